// SPDX-License-Identifier: Apache-2.0
// A file of numbers. Whatever stands there, it is rejected with its place, or all its rows have as many columns.
#include "fuzz.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/file_dataset.hpp>

#include <memory>
#include <optional>
#include <sstream>
#include <string>

namespace {

class TextLines final : public chorus::detail::Cursor<std::string> {
 public:
  explicit TextLines(const std::string& text) : text_(text) {}
  std::optional<std::string> next() override {
    std::string line;
    return std::getline(text_, line) ? std::optional(line) : std::nullopt;
  }

 private:
  std::istringstream text_;
};

template <class T>
void read(const std::string& text, const chorus::CsvOptions& options) {
  using namespace chorus;
  detail::CsvRows<T> rows(std::make_unique<TextLines>(text), "input", options);
  try {
    std::size_t columns = 0;
    while (const auto row = rows.next()) {
      fuzz::require(!row->empty() && (columns == 0 || row->size() == columns), "a row of another length");
      columns = row->size();
    }
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::invalid_argument, error.what());
    fuzz::require(error.message().find("input, line ") != std::string::npos, "a message without a place");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read<float>(text, {});
  read<std::int8_t>(text, {.header = true, .separator = ';'});
  return 0;
}
