// SPDX-License-Identifier: Apache-2.0
#include "transport/deadlock_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace chorus {
namespace {

/// "from rank 12 at" becomes "from rank ... at".
std::string without_rank_numbers(std::string_view text) {
  constexpr std::string_view word = "rank ";
  std::string result;
  while (true) {
    const std::size_t found = text.find(word);
    if (found == text.npos) return result.append(text);
    result.append(text.substr(0, found + word.size())).append("...");
    text.remove_prefix(found + word.size());
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  }
}

/// "rank 3" or "ranks 3-7, 9".
std::string name_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (auto at = ranks.begin(); at != ranks.end();) {
    const auto gap = std::adjacent_find(at, ranks.end(), [](int left, int right) { return right != left + 1; });
    const auto last = gap == ranks.end() ? ranks.end() - 1 : gap;
    if (at != ranks.begin()) text += ", ";
    text += last == at ? fmt::format("{}", *at) : fmt::format("{}-{}", *at, *last);
    at = last + 1;
  }
  return text;
}

/// A line for each group of ranks of which `general` makes one text: that of its ranks, or where these differ the
/// general one.
template <class General>
std::string grouped(const std::map<int, std::string>& texts, General general) {
  struct Group {
    std::string general;
    std::string text;  // of the first rank
    std::vector<int> ranks = {};
    bool same = true;
  };
  std::vector<Group> groups;  // in the order of their first ranks
  for (const auto& [rank, own] : texts) {
    const std::string of_group = general(own);
    auto group = std::ranges::find(groups, of_group, &Group::general);
    if (group == groups.end()) group = groups.insert(group, {of_group, own});
    group->ranks.push_back(rank);
    group->same = group->same && group->text == own;
  }
  std::string text;
  for (const Group& group : groups) {
    text += fmt::format("\n  {}: {}", name_ranks(group.ranks), group.same ? group.text : group.general);
  }
  return text;
}

}  // namespace

std::string group_by_place(const std::map<int, std::string>& places) { return grouped(places, without_rank_numbers); }

std::string group_by_text(const std::map<int, std::string>& texts) {
  return grouped(texts, [](const std::string& text) { return text; });
}

}  // namespace chorus
