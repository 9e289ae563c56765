// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "phases.hpp"
#include "reduction.hpp"
#include "section_list.hpp"

#include <cstddef>
#include <span>

namespace chorus {

/// A vector of blocks of any lengths, one for each rank, packed: node by node, one behind the other.
class SectionsOfNodes {
 public:
  /// `blocks`: where those of the ranks lie before they are packed. Outlives this, as `nodes` does.
  SectionsOfNodes(Transport& transport, const Nodes& nodes, std::span<const Section> blocks)
      : nodes_(nodes), blocks_(blocks), ranks_(transport, blocks.size()), of_nodes_(transport, nodes.sizes().size()) {
    std::size_t rank = 0;
    for (std::size_t node = 0; node < of_nodes_.size(); ++node) {
      std::size_t end = 0;
      for (int place = 0; place < nodes.sizes()[node]; ++place, ++rank) {
        ranks_[rank] = {end, block(rank).bytes};
        end += block(rank).bytes;
      }
      of_nodes_[node] = {bytes_, end};
      bytes_ += end;
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<const Section> of_nodes() const noexcept { return of_nodes_; }
  /// That of this rank's node.
  [[nodiscard]] const Section& own() const noexcept { return of_nodes_[static_cast<std::size_t>(nodes_.number())]; }
  /// Those of the ranks of this node, from the start of own().
  [[nodiscard]] std::span<const Section> inside() const noexcept {
    const auto first = static_cast<std::size_t>(nodes_.before(nodes_.number()));
    return std::span<const Section>(ranks_).subspan(
        first, static_cast<std::size_t>(nodes_.sizes()[static_cast<std::size_t>(nodes_.number())]));
  }
  void pack(std::byte* packed, const std::byte* blocks) const noexcept {
    for (std::size_t rank = 0; rank < ranks_.size(); packed += block(rank++).bytes) {
      copy_unless_same(packed, blocks + block(rank).offset, block(rank).bytes);
    }
  }
  void unpack(std::byte* blocks, const std::byte* packed) const noexcept {
    for (std::size_t rank = 0; rank < ranks_.size(); packed += block(rank++).bytes) {
      copy_unless_same(blocks + block(rank).offset, packed, block(rank).bytes);
    }
  }

 private:
  /// Of the rank that is so far behind the first one, node by node.
  [[nodiscard]] const Section& block(std::size_t rank) const noexcept {
    return blocks_[static_cast<std::size_t>(nodes_.ranks()[rank])];
  }

  const Nodes& nodes_;
  std::span<const Section> blocks_;
  std::size_t bytes_ = 0;
  SectionList ranks_;  // node by node, each from the start of its node's
  SectionList of_nodes_;
};

}  // namespace chorus
