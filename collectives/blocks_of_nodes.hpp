// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "phases.hpp"
#include "section_list.hpp"

#include <cstddef>
#include <span>

namespace chorus {

/// A vector of a block for each rank, node by node, and the phases between the nodes in which each has the blocks of
/// its ranks together. Lives until the phase has ended.
class BlocksOfNodes {
 public:
  /// A block has `count` elements.
  BlocksOfNodes(Transport& transport, const Nodes& nodes, const Call& call)
      : equal_(nodes.equally_large()),
        number_(static_cast<std::size_t>(nodes.number())),
        all_(transport, nodes.sizes().size()),
        of_this_(transport, all_.size()) {
    std::size_t offset = 0;
    for (std::size_t node = 0; node < all_.size(); ++node) {
      all_[node] = {offset, static_cast<std::size_t>(nodes.sizes()[node]) * call.bytes()};
      offset += all_[node].bytes;
    }
  }
  /// Those of a node, and of this rank's.
  [[nodiscard]] const Section& of(int node) const { return all_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Section& own() const { return all_[number_]; }

  // Each phase of `whole`, and its arguments.

  [[nodiscard]] static Phase allgather(const Problem& whole) {
    return between_nodes(whole, Collective::allgather, Collective::allgatherv);
  }
  /// In place.
  [[nodiscard]] Arguments allgather_in(std::byte* all) {
    of_this_.fill(own());
    return with_lengths({.call = {}, .in = all, .out = all}, of_this_, all_);
  }

  /// The reduction in which each node gets its own.
  [[nodiscard]] static Phase reduce_scatter(const Problem& whole) {
    return between_nodes(whole, Collective::reduce_scatter_block, Collective::reduce_scatter);
  }
  /// With the operation and the buffers of `arguments`.
  [[nodiscard]] Arguments reduce_scatter_of(const Arguments& arguments) const {
    return with_lengths(arguments, all_, {});
  }

  [[nodiscard]] static Phase gather(const Problem& whole) {
    return between_nodes(whole, Collective::gather, Collective::gatherv);
  }
  /// To the node `root`, where `all` is given and has `own` in its place; elsewhere it is null.
  [[nodiscard]] Arguments gather_to(int root, const std::byte* own_blocks, std::byte* all) {
    if (all != nullptr) return with_lengths({.call = {}, .in = all, .out = all}, all_, all_);
    set_only(root);
    return with_lengths({.call = {}, .in = own_blocks}, of_this_, of_this_);
  }

  [[nodiscard]] static Phase scatter(const Problem& whole) {
    return between_nodes(whole, Collective::scatter, Collective::scatterv);
  }
  /// From the node `root`, where `all` is given and keeps that node's own in its place; elsewhere it is null.
  [[nodiscard]] Arguments scatter_from(int root, std::byte* all, std::byte* own_blocks) {
    if (all != nullptr) return with_lengths({.call = {}, .in = all, .out = all}, all_, all_);
    set_only(root);
    return with_lengths({.call = {}, .in = nullptr, .out = own_blocks}, of_this_, of_this_);
  }

 private:
  [[nodiscard]] Arguments with_lengths(Arguments arguments, std::span<const Section> in,
                                       std::span<const Section> out) const {
    if (equal_) return arguments;
    arguments.in_sections = in;
    arguments.out_sections = out;
    return arguments;
  }
  /// This node's blocks stand alone, and are for or from `root`.
  void set_only(int root) {
    of_this_.fill({});
    of_this_[static_cast<std::size_t>(root)] = {0, own().bytes};
  }

  bool equal_;
  std::size_t number_;
  SectionList all_;
  SectionList of_this_;  // as what this node gives to each, or gets
};

}  // namespace chorus
