// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "kernels/kernels.hpp"
#include "pieces.hpp"
#include "transport/shared_group.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

// What the algorithms have in common that follow the domains of a node (NodeShape): at each level a rank deals with
// its partners alone, the ranks whose digits are its own but for that of the level.
namespace chorus {

/// True where the ranks share memory on a node that is divided.
[[nodiscard]] inline bool has_domains(const Problem& problem) noexcept {
  return problem.shared && problem.domains.levels > 1;
}

/// The partners of a rank at all levels.
[[nodiscard]] inline int partners_at_all_levels(const Radices& radices) noexcept {
  int partners = 0;
  for (int level = 0; level < radices.levels; ++level) partners += radices.radix(level) - 1;
  return partners;
}

/// One of the ranks, among the domains of its node.
class DomainRank {
 public:
  DomainRank(const SharedGroup& memory, int rank) noexcept : shape_(memory.shape()), position_(shape_.position(rank)) {}

  [[nodiscard]] int levels() const noexcept { return shape_.radices().levels; }
  [[nodiscard]] int radix(int level) const noexcept { return shape_.radices().radix(level); }
  [[nodiscard]] int stride(int level) const noexcept { return shape_.radices().stride(level); }
  [[nodiscard]] int position() const noexcept { return position_; }
  [[nodiscard]] int digit(int level) const noexcept { return position_ / stride(level) % radix(level); }
  /// The rank with `digit` at `level` and this one's digits elsewhere.
  [[nodiscard]] int partner(int level, int digit) const noexcept {
    return shape_.rank_at(position_ + (digit - this->digit(level)) * stride(level));
  }
  [[nodiscard]] int rank_at(int position) const noexcept { return shape_.rank_at(position); }
  /// The outermost level at which its digit differs from `other`'s; -1: it is that rank.
  [[nodiscard]] int distance(const DomainRank& other) const noexcept {
    int level = levels() - 1;
    while (level >= 0 && digit(level) == other.digit(level)) --level;
    return level;
  }
  /// True where its digits of all levels below `level` are `other`'s.
  [[nodiscard]] bool same_below(const DomainRank& other, int level) const noexcept {
    return position_ % stride(level) == other.position_ % stride(level);
  }

 private:
  const NodeShape& shape_;
  int position_;
};

/// The whole vectors of `me`, which is this rank, and its partners of `level`, who have arrived at `round`, in the
/// order of their digits; counts those it reads. Valid until the memory is asked for places again.
template <class Place>
[[nodiscard]] std::span<const std::byte*> vectors_of(SharedGroup& memory, const DomainRank& me, int level, Round round,
                                                     const std::byte* mine, std::size_t bytes) {
  const std::span<const std::byte*> vectors = memory.places(me.radix(level));
  for (int digit = 0; digit < me.radix(level); ++digit) {
    const int partner = me.partner(level, digit);
    vectors[static_cast<std::size_t>(digit)] = partner == memory.rank() ? mine : Place::of(memory, round, partner);
    if (partner != memory.rank()) memory.count_read(partner, bytes);
  }
  return vectors;
}

/// What a rank has of a vector cut into a piece a rank, when some levels have divided it: the ranks of a group of
/// `level` share the vector among them. The innermost digit divides it first, so that a share is contiguous.
struct Share {
  std::size_t begin = 0;
  std::size_t end = 0;

  /// The share of the rank at `position` in its group of `level`: all for level 0, one piece for the outermost.
  [[nodiscard]] static Share of(const Pieces& pieces, const Radices& radices, int level, int position) noexcept {
    int width = radices.stride(radices.levels);
    int first = 0;
    for (int at = 0; at < level; ++at) {
      width /= radices.radix(at);
      first += position / radices.stride(at) % radices.radix(at) * width;
    }
    return {pieces.offset(first), pieces.offset(first + width)};
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return end - begin; }
};

/// Puts what `part` has beyond `but` into this rank's slot, where it begins as far on as in `data`.
inline void put_without(SharedGroup& memory, std::byte* slot, const std::byte* data, Share part, Share but) {
  const std::size_t before = std::min(part.end, but.begin);
  const std::size_t after = std::max(part.begin, but.end);
  if (before > part.begin) memory.put(slot + part.begin, data + part.begin, before - part.begin);
  if (part.end > after) memory.put(slot + after, data + after, part.end - after);
}

/// Copies from a slot of `peer`, and counts it.
inline void fetch(SharedGroup& memory, int peer, std::byte* out, const std::byte* data, std::size_t bytes) {
  memory.count_read(peer, bytes);
  if (bytes > 0) kernels::copy(out, data, bytes, kernels::Store::cached);
}

}  // namespace chorus
