// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/detail/csv.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::detail {
namespace {

std::string text_of(const CsvPlace& place) { return place.file + ", line " + std::to_string(place.line); }

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t last = text.find_last_not_of(" \t");
  return text.substr(first, last == std::string_view::npos ? 0 : last + 1 - first);
}

}  // namespace

std::vector<std::string_view> csv_fields(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  if (without_blanks(line).empty()) return fields;
  for (std::size_t first = 0;;) {
    const std::size_t end = std::min(line.find(separator, first), line.size());
    fields.push_back(without_blanks(line.substr(first, end - first)));
    if (end == line.size()) return fields;
    first = end + 1;
  }
}

void reject_number(const CsvPlace& place, std::string_view field, const char* why) {
  constexpr std::size_t longest = 40;
  const std::string shown(field.substr(0, longest));
  throw Error(ErrorCode::invalid_argument, "make_csv_dataset: " + text_of(place) + ", column " +
                                               std::to_string(place.column) + ": \"" + shown +
                                               (field.size() > longest ? "..." : "") + "\" " + why +
                                               ": correct it, or choose the header, separator or type of the file");
}

void check_columns(const CsvPlace& place, std::size_t found, std::size_t expected) {
  if (found == expected) return;
  throw Error(ErrorCode::invalid_argument, "make_csv_dataset: " + text_of(place) + " has " + std::to_string(found) +
                                               " columns, those before it " + std::to_string(expected) +
                                               ": every line must have the same number");
}

}  // namespace chorus::detail
