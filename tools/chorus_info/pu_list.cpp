// SPDX-License-Identifier: Apache-2.0
#include "pu_list.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>

namespace chorus::info {
namespace {

/// Runs of at least `shortest` units are written as first-last, others one by one.
std::string list(const PuSet& pus, std::size_t shortest, char separator) {
  std::string text;
  for (std::size_t first = 0; first < pus.size(); ++first) {
    if (!pus[first]) continue;
    std::size_t last = first;
    while (last + 1 < pus.size() && pus[last + 1]) ++last;
    if (!text.empty()) text += separator;
    if (last - first + 1 < shortest) {
      text += fmt::format("{}", first);
    } else {
      text += fmt::format("{}-{}", first, last);
      first = last;
    }
  }
  return text;
}

/// Reads a number at the start of `text` and takes it away.
std::optional<std::size_t> take_number(std::string_view& text) {
  std::size_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || number >= max_pus) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

bool take(char letter, std::string_view& text) {
  if (!text.starts_with(letter)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string cpu_list(const PuSet& pus) { return list(pus, 2, ','); }

std::string readable(const PuSet& pus) { return list(pus, 3, ' '); }

std::optional<PuSet> parse_cpu_list(std::string_view text) {
  PuSet pus;
  while (!text.empty()) {
    const auto first = take_number(text);
    if (!first) return std::nullopt;
    const auto last = take('-', text) ? take_number(text) : first;
    if (!last || *last < *first) return std::nullopt;
    for (std::size_t pu = *first; pu <= *last; ++pu) pus.set(pu);
    if (!text.empty() && !(take(',', text) && !text.empty())) return std::nullopt;
  }
  return pus;
}

}  // namespace chorus::info
