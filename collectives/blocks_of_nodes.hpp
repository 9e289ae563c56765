// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "phases.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chorus {

/// A vector of a block for each rank, node by node, and the phases between the nodes in which each has the blocks of
/// its ranks together. Lives until the phase has ended.
class BlocksOfNodes {
 public:
  BlocksOfNodes(const Nodes& nodes, std::size_t block)
      : equal_(nodes.equally_large()), ranks_(nodes.ranks().size()), all_(nodes.sizes().size()) {
    std::size_t offset = 0;
    for (std::size_t node = 0; node < all_.size(); ++node) {
      all_[node] = {offset, static_cast<std::size_t>(nodes.sizes()[node]) * block};
      offset += all_[node].bytes;
    }
    own_.assign(all_.size(), all_[static_cast<std::size_t>(nodes.number())]);
    result_.resize(all_.size());
    result_[static_cast<std::size_t>(nodes.number())] = {0, own_.front().bytes};
  }
  [[nodiscard]] std::size_t bytes(int node) const { return all_[static_cast<std::size_t>(node)].bytes; }

  /// Allgather of them; a rank's block has `count` elements.
  [[nodiscard]] Phase allgather(std::size_t count) const {
    return phase(Collective::allgather, Collective::allgatherv, count);
  }
  /// Its arguments, in place.
  [[nodiscard]] Arguments allgather_in(std::byte* all) const {
    Arguments arguments{.call = {}, .in = all, .out = all};
    if (!equal_) arguments.in_sections = own_;
    if (!equal_) arguments.out_sections = all_;
    return arguments;
  }
  /// The reduction in which each node gets its own.
  [[nodiscard]] Phase reduce_scatter(std::size_t count) const {
    return phase(Collective::reduce_scatter_block, Collective::reduce_scatter, count);
  }
  /// Its arguments, with the operation and the buffers of `arguments`.
  [[nodiscard]] Arguments reduce_scatter_of(Arguments arguments) const {
    if (!equal_) arguments.in_sections = all_;
    if (!equal_) arguments.out_sections = result_;
    return arguments;
  }

 private:
  [[nodiscard]] Phase phase(Collective equal, Collective unequal, std::size_t count) const {
    return {Phase::Where::between, equal_ ? equal : unequal, count * (equal_ ? ranks_ / all_.size() : ranks_)};
  }

  bool equal_;
  std::size_t ranks_;
  std::vector<Section> all_;
  std::vector<Section> own_;     // as what a node gives to each
  std::vector<Section> result_;  // as what it gets
};

}  // namespace chorus
