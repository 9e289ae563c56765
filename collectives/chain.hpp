// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/machine.hpp"

#include <algorithm>
#include <cmath>

namespace chorus {

/// One rank's part in a chain along which a vector goes in segments, from the root or to it. Places are ranks counted
/// from the root, which is place 0.
class Chain {
 public:
  Chain(const Transport& transport, const Call& call) noexcept
      : ranks_(transport.size()),
        rank_(transport.rank()),
        place_((rank_ + ranks_ - call.root) % ranks_),
        bytes_(call.bytes()),
        segment_(segment_of(call)) {}

  /// The neighbours towards the root, which has none, and away from it, where the last place has none.
  [[nodiscard]] int nearer() const noexcept { return place_ == 0 ? no_rank : (rank_ + ranks_ - 1) % ranks_; }
  [[nodiscard]] int farther() const noexcept { return place_ == ranks_ - 1 ? no_rank : (rank_ + 1) % ranks_; }
  [[nodiscard]] std::size_t longest_bytes() const noexcept { return std::min(segment_, bytes_); }
  /// 1 also where there is no data.
  [[nodiscard]] std::size_t segments() const noexcept {
    return std::max<std::size_t>(1, (bytes_ + segment_ - 1) / segment_);
  }
  [[nodiscard]] std::size_t offset(std::size_t number) const noexcept { return number * segment_; }
  [[nodiscard]] std::size_t bytes(std::size_t number) const noexcept {
    return std::min(segment_, bytes_ - number * segment_);
  }

  /// Of messages: each rank passes on one segment while it gets the next one, and the end of the chain also waits until
  /// the first segment has gone all the way.
  [[nodiscard]] static Traffic traffic(const Problem& problem) noexcept {
    if (problem.ranks == 1) return {};
    const auto all = static_cast<double>(problem.call.bytes());
    const auto segment = static_cast<double>(segment_of(problem.call));
    const double between = problem.ranks - 2;  // ranks that get and pass on: their first round only gets
    const double first = std::min(between, 1.0);
    return {.shared = {},
            .messages = {.messages = std::max(1.0, std::ceil(all / segment)) + first, .bytes = all, .reduced = 0},
            .waited = {.messages = between - first, .bytes = between * std::min(all, segment), .reduced = 0},
            .to_next = 1};
  }

 private:
  [[nodiscard]] static std::size_t segment_of(const Call& call) noexcept {
    return std::max(call.whole_bytes(machine::longest_segment), call.element_bytes());
  }

  int ranks_;
  int rank_;
  int place_;
  std::size_t bytes_;
  std::size_t segment_;
};

}  // namespace chorus
