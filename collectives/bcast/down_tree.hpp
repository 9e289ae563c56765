// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocks.hpp"
#include "exchanges.hpp"
#include "tree_pipeline.hpp"

#include <array>
#include <optional>

namespace chorus {

/// A vector on its way down a tree, as one rank of the tree sees it.
class DownTree {
 public:
  /// `call`: its root is a rank of `transport`.
  DownTree(Transport& transport, const Call& call, std::byte* data, const TreePipeline& pipeline) noexcept
      : transport_(transport),
        rank_(transport, call.root, pipeline.degree),
        segments_(call, pipeline.segments),
        number_(pipeline.segments),
        data_(data) {}

  /// Waits for a segment, the first one first; the next one is on its way meanwhile, too.
  [[nodiscard]] Task<> comes(int number) {
    if (rank_.is_root()) co_return;
    const int ahead = TreePipeline::ahead(segments_.longest_bytes());
    for (int first = 0; number == 0 && first < ahead; ++first) post(first);
    co_await incoming(number)->comes();
    post(number + ahead);
  }

  /// Sends a segment to the children.
  [[nodiscard]] Task<> pass_on(int number) const {
    std::array<Envelope, RangeTree::highest_degree> exchanges;
    for (int i = 0; i < rank_.children(); ++i) {
      Envelope& exchange = exchanges[static_cast<std::size_t>(i)];
      exchange.outgoing = segment(number);
      exchange.destination = rank_.child(i);
    }
    return three_at_once(transport_, exchanges);
  }

 private:
  void post(int number) {
    if (number < number_) incoming(number).emplace(transport_, segment(number), rank_.parent(), Where::here());
  }
  [[nodiscard]] std::optional<PostedReceive>& incoming(int number) {
    return incoming_[static_cast<std::size_t>(number) % 2];
  }
  [[nodiscard]] Bytes segment(int number) const noexcept {
    return {data_ + segments_.offset(number), segments_.bytes(number)};
  }

  Transport& transport_;
  TreeRank rank_;
  Blocks segments_;
  int number_;
  std::byte* data_;
  std::array<std::optional<PostedReceive>, 2> incoming_;
};

}  // namespace chorus
