// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/detail/lines.hpp>
#include <chorus/strategies/file_dataset.hpp>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chorus {
namespace detail {

Lines::Lines(const std::string& file, const char* function)
    : name_(file), function_(function), file_(file, std::ios::binary) {
  if (file_) return;
  throw Error(ErrorCode::invalid_argument, std::string(function_) + ": cannot open " + file + ": " +
                                               std::strerror(errno) + ": give files that this worker can read");
}

std::optional<std::string> Lines::next() {
  std::string line;
  if (!std::getline(file_, line)) {
    if (!file_.bad()) return std::nullopt;
    throw Error(ErrorCode::invalid_argument, std::string(function_) + ": cannot read " + name_ +
                                                 " to its end: give files that this worker can read");
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace detail

Dataset<std::string> make_text_dataset(std::vector<std::string> files) {
  using Stage = detail::FilesStage<std::string>;
  const auto open = [](const std::string& file) -> std::unique_ptr<detail::Cursor<std::string>> {
    return std::make_unique<detail::Lines>(file, "make_text_dataset");
  };
  return Dataset<std::string>(std::make_shared<const Stage>(std::move(files), open));
}

}  // namespace chorus
