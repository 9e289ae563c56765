// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/detail/stage.hpp>

#include <charconv>
#include <complex>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// How a file of numbers is written.
struct CsvOptions {
  bool header = false;  ///< whether the first line of each file has names, and is passed over
  char separator = ',';
};

namespace detail {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// Where a field stands, for messages: lines and columns count from 1.
struct CsvPlace {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
};

/// The fields of `line`, without the blanks around them; none of a line of blanks.
CHORUS_API std::vector<std::string_view> csv_fields(std::string_view line, char separator);
[[noreturn]] CHORUS_API void reject_number(const CsvPlace& place, std::string_view field, const char* why);
/// Throws   Error{invalid_argument} where `found` columns are not as many as `expected`.
CHORUS_API void check_columns(const CsvPlace& place, std::size_t found, std::size_t expected);

/// The number that `field` spells.
template <class T>
T parse_number(std::string_view field, const CsvPlace& place) {
  // float16_t and bfloat16_t are read as float, and rounded once more.
  using Read = std::conditional_t<std::integral<T> && sizeof(T) == 1, int, ComputedIn<T>>;
  std::string_view digits = field;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Read number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) reject_number(place, field, "does not fit into the type asked for");
  if (error != std::errc() || end != digits.data() + digits.size()) reject_number(place, field, "is no number");
  if constexpr (std::integral<T> && sizeof(T) == 1) {
    if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
      reject_number(place, field, "does not fit into the type asked for");
    }
  }
  return static_cast<T>(number);
}

/// The rows of one file.
template <class T>
class CsvRows final : public Cursor<std::vector<T>> {
 public:
  CsvRows(std::unique_ptr<Cursor<std::string>> lines, const std::string& file, const CsvOptions& options)
      : lines_(std::move(lines)), options_(options) {
    place_.file = file;
    if (options_.header) place_.line += lines_->skip(1);
  }

  std::optional<std::vector<T>> next() override {
    while (const std::optional<std::string> line = lines_->next()) {
      ++place_.line;
      const std::vector<std::string_view> fields = csv_fields(*line, options_.separator);
      if (!fields.empty()) return parse(*line, fields);
    }
    return std::nullopt;
  }

 private:
  std::vector<T> parse(const std::string& line, const std::vector<std::string_view>& fields) {
    if (columns_ == 0) columns_ = fields.size();
    check_columns(place_, fields.size(), columns_);
    std::vector<T> row;
    row.reserve(fields.size());
    for (const std::string_view field : fields) {
      place_.column = static_cast<std::size_t>(field.data() - line.data()) + 1;
      row.push_back(parse_number<T>(field, place_));
    }
    return row;
  }

  std::unique_ptr<Cursor<std::string>> lines_;
  CsvOptions options_;
  CsvPlace place_;
  std::size_t columns_ = 0;
};

}  // namespace detail

}  // namespace chorus
