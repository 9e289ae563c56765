// SPDX-License-Identifier: Apache-2.0
#include "transport/node_agreement.hpp"

#include <algorithm>

namespace chorus {

NodeAgreement::NodeAgreement(int ranks)
    : ranks_(ranks),
      row_bytes_((static_cast<std::size_t>(ranks) + 1 + 7) / 8),
      rows_(row_bytes_ * static_cast<std::size_t>(ranks)) {}

void NodeAgreement::reached(int from, int to) noexcept {
  const auto column = static_cast<std::size_t>(to);
  rows_[static_cast<std::size_t>(from) * row_bytes_ + column / 8] |= std::byte{1} << column % 8;
}

bool NodeAgreement::has_reached(int from, int to) const noexcept {
  const auto column = static_cast<std::size_t>(to);
  return (rows_[static_cast<std::size_t>(from) * row_bytes_ + column / 8] >> column % 8 & std::byte{1}) != std::byte{0};
}

bool NodeAgreement::everybody_reaches_into_all() const noexcept {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!has_reached(rank, ranks_)) return false;
  }
  return true;
}

std::vector<int> NodeAgreement::nodes() const {
  std::vector<int> nodes(static_cast<std::size_t>(ranks_));
  std::vector<std::vector<int>> members;
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto both_ways = [&](int other) { return has_reached(rank, other) && has_reached(other, rank); };
    auto node = std::ranges::find_if(members, [&](const auto& ranks) { return std::ranges::all_of(ranks, both_ways); });
    if (node == members.end()) node = members.insert(members.end(), std::vector<int>());
    node->push_back(rank);
    nodes[static_cast<std::size_t>(rank)] = static_cast<int>(node - members.begin());
  }
  return nodes;
}

}  // namespace chorus
