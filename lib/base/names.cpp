// SPDX-License-Identifier: Apache-2.0
#include "base/names.hpp"

#include "base/listed_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace chorus {
namespace {

constexpr std::array<std::string_view, collective_count> collectives = {
    "barrier",  "bcast",    "reduce",    "allreduce", "allgather",     "reduce_scatter_block",
    "alltoall", "gather",   "scatter",   "scan",      "exscan",        "allgatherv",
    "gatherv",  "scatterv", "alltoallv", "alltoallw", "reduce_scatter"};
constexpr std::array<std::string_view, 10> of_communicators = {  // 255, 254, ...
    "split",       "dup",        "subset", "node", "leaders", "revoke", "shares_memory", "the first call by native",
    "synchronize", "nearest_gpu"};
constexpr std::array<std::string_view, data_type_count> types = {
    "boolean", "int8",     "int16",   "int32",   "int64",       "uint8",     "uint16",     "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "long_double", "complex64", "complex128", "opaque"};
constexpr std::array<std::string_view, reduce_op_count> ops = {
    "sum",        "product",     "min",         "max",        "average",    "logical_and",
    "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"};

template <class Enumeration, std::size_t count>
std::string_view name_in(const std::array<std::string_view, count>& names, Enumeration value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < count ? names[index] : "unknown";
}

/// True where `part` stands in `word` between underscores or its ends.
bool has_part(std::string_view word, std::string_view part) {
  return !part.empty() && fmt::format("_{}_", word).find(fmt::format("_{}_", part)) != std::string::npos;
}

/// How many letters to add, drop, change or swap with their neighbour, whatever their case: the distance of Damerau and
/// Levenshtein where no letter is edited twice.
std::size_t edits(std::string_view from, std::string_view to) {
  const auto same = [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) == std::tolower(static_cast<unsigned char>(right));
  };
  std::vector<std::size_t> before(to.size() + 1);  // the row for the letter before the last
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t column = 0; column <= to.size(); ++column) row[column] = column;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      row[j + 1] = std::min({last[j] + (same(from[i], to[j]) ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && same(from[i], to[j - 1]) && same(from[i - 1], to[j]);
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

/// The ranks that a subset is to have, as far as their number says it.
std::string text_of_list(const Call& subset) {
  if (subset.root == 0) return "no ranks";
  const auto ranks = list_of_number(subset.count, static_cast<std::size_t>(subset.root));
  if (!ranks) return fmt::format("{} ranks whose list has the checksum {:x}", subset.root, subset.count);
  std::string text = ranks->size() == 1 ? "rank" : "ranks";
  for (std::size_t place = 0; place < ranks->size(); ++place) {
    text += (place == 0 ? " " : ", ") + std::to_string((*ranks)[place]);
  }
  return text;
}

}  // namespace

std::string_view name(Collective collective) noexcept {
  if (collective >= assigning_gpus) return of_communicators[255U - static_cast<std::size_t>(collective)];
  return name_in(collectives, collective);
}
std::string_view name(DataType type) noexcept { return name_in(types, type); }
std::string_view name(ReduceOp op) noexcept {
  if (op == commutative_function) return "a commutative function";
  return op == ordered_function ? "a function" : name_in(ops, op);
}

std::optional<Collective> collective_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(collectives, name);
  if (found == collectives.end()) return std::nullopt;
  return static_cast<Collective>(found - collectives.begin());
}

std::span<const std::string_view> collective_names() noexcept { return collectives; }

bool has_op(Collective collective) noexcept {
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::reduce_scatter_block || collective == Collective::scan ||
         collective == Collective::exscan || collective == Collective::reduce_scatter;
}

bool has_root(Collective collective) noexcept {
  return collective == Collective::bcast || collective == Collective::reduce || collective == Collective::gather ||
         collective == Collective::scatter || collective == Collective::gatherv || collective == Collective::scatterv;
}

std::string describe(const Call& call) {
  std::string text(name(call.collective));
  if (counts_differ(call.collective)) {
    text += fmt::format(" of {}", name(call.type));
  } else if (call.collective == choosing_subset) {
    text += " of " + text_of_list(call);
  } else if (call.collective != Collective::barrier && static_cast<int>(call.collective) < collective_count) {
    text += fmt::format(" of {} {}", call.count, name(call.type));
  }
  if (call.type == DataType::opaque) text += fmt::format(" elements of {} bytes", call.opaque_bytes);
  if (has_op(call.collective)) text += fmt::format(" by {}", name(call.op));
  if (has_root(call.collective)) text += fmt::format(" with root {}", call.root);
  if (call.memory == Memory::device) text += ", in memory of a device";
  if (call.repeatability == Repeatability::deterministic) text += ", deterministic";
  if (call.repeatability == Repeatability::reproducible) text += ", reproducible";
  return text;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  const auto distance = [&](std::string_view candidate) { return edits(word, candidate); };
  const auto found = std::ranges::min_element(known, {}, distance);
  if (found != known.end() && 3 * distance(*found) <= std::max(word.size(), found->size())) return *found;
  std::string_view longest;
  bool is_only_one = false;
  for (const std::string_view candidate : known) {
    const bool alike = has_part(word, candidate) || has_part(candidate, word);
    if (!alike || candidate.size() < longest.size()) continue;
    is_only_one = candidate.size() > longest.size();
    longest = candidate;
  }
  return is_only_one ? longest : std::string_view();
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view like = nearest(word, known);
  if (like.empty()) return fmt::format("there are {}", joined(known));
  return fmt::format("did you mean \"{}\"? There are {}", like, joined(known));
}

std::string not_understood(std::span<const std::string> words, std::span<const std::string> options) {
  std::string text = "not understood:";
  for (const std::string& word : words) text += " " + word;
  if (words.empty() || !words.front().starts_with("--")) return text;
  const std::string_view first = std::string_view(words.front()).substr(0, words.front().find('='));
  const std::vector<std::string_view> known(options.begin(), options.end());
  const std::string_view like = nearest(first, known);
  return like.empty() ? text : fmt::format("{}; did you mean {}?", text, like);
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::optional<std::size_t> parse_bytes(std::string_view text) noexcept {
  std::size_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string unit(rest, text.data() + text.size());
  std::ranges::transform(unit, unit.begin(), [](unsigned char letter) { return std::tolower(letter); });
  if (unit == "b") unit.clear();
  if (unit.empty()) return number;
  const std::size_t power = std::string_view("kmg").find(unit.front());
  const std::string_view tail = std::string_view(unit).substr(1);
  if (power == std::string_view::npos || !(tail.empty() || tail == "b" || tail == "ib")) return std::nullopt;
  const std::size_t shift = 10 * (power + 1);
  if (number > std::numeric_limits<std::size_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

}  // namespace chorus
