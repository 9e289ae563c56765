// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/machine.hpp"
#include "domains.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace chorus::bcast_domains {

/// A slot has an area for the shares of each level but the outermost; the root's has one segment.
inline std::size_t segment_of(std::size_t slot_bytes, const Radices& radices) {
  const std::size_t area = slot_bytes / static_cast<std::size_t>(radices.levels - 1) / 64 * 64;
  return std::min(area, machine::longest_segment);
}

/// The vector on this rank, which is not the root.
class Receiver {
 public:
  Receiver(SharedGroup& memory, const Arguments& arguments)
      : memory_(memory),
        me_(memory, memory.rank()),
        distance_(me_.distance(DomainRank(memory, arguments.call.root))),
        segment_bytes_(segment_of(memory.slot_bytes(), memory.shape().radices())),
        data_(arguments) {}

  /// Shows what it has of earlier segments to its partners.
  void show(Round round, std::size_t step) const {
    for (int level = 0; level < distance_; ++level) {
      const std::optional<std::size_t> number = segment_at(level, step);
      if (!number) continue;
      const Share share = share_of(*number, level + 1, memory_.rank());
      memory_.put(area(round, memory_.rank(), level), segment(*number) + share.begin, share.bytes());
    }
  }

  void fetch_from_root(Round round, std::size_t step) const {
    const int root = data_.call.root;
    const Share share = share_of(step, distance_, memory_.rank());
    fetch(memory_, root, segment(step) + share.begin, memory_.slot(round, root) + share.begin, share.bytes());
  }

  void fetch_from_partners(Round round, std::size_t step) const {
    for (int level = 0; level < distance_; ++level) {
      const std::optional<std::size_t> number = segment_at(level, step);
      for (int turn = 1; number && turn < me_.radix(level); ++turn) {
        const int partner = me_.partner(level, (me_.digit(level) + turn) % me_.radix(level));
        const Share share = share_of(*number, level + 1, partner);
        fetch(memory_, partner, segment(*number) + share.begin, area(round, partner, level), share.bytes());
      }
    }
  }

 private:
  /// The segment whose shares are gathered at `level` in `step`.
  [[nodiscard]] std::optional<std::size_t> segment_at(int level, std::size_t step) const {
    const auto later = static_cast<std::size_t>(me_.levels() - 1 - level);
    if (step < later || (step - later) * segment_bytes_ >= data_.call.bytes()) return std::nullopt;
    return step - later;
  }
  [[nodiscard]] std::byte* segment(std::size_t number) const { return data_.out + number * segment_bytes_; }
  [[nodiscard]] Share share_of(std::size_t number, int level, int rank) const {
    const std::size_t bytes = std::min(segment_bytes_, data_.call.bytes() - number * segment_bytes_);
    const NodeShape& shape = memory_.shape();
    return Share::of(Pieces(bytes, 1, memory_.size()), shape.radices(), level, shape.position(rank));
  }
  [[nodiscard]] std::byte* area(Round round, int rank, int level) const {
    return memory_.slot(round, rank) + static_cast<std::size_t>(level) * segment_bytes_;
  }

  SharedGroup& memory_;
  DomainRank me_;
  int distance_;
  std::size_t segment_bytes_;
  Arguments data_;
};

}  // namespace chorus::bcast_domains
