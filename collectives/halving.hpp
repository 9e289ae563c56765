// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "blocks.hpp"
#include "fold.hpp"
#include "reduction.hpp"
#include "swing.hpp"
#include "task/task.hpp"
#include "transport/transport.hpp"

#include <bit>

namespace chorus {

/// What the pairs of `Pairs` (swing.hpp) share out of a vector of one block a place, of which there are a power of two:
/// in step s two partners halve what both hold, and who has bit s of his number set keeps the later half. With four
/// places that double:
///
///            place 0   place 1   place 2   place 3
///   start    0123      0123      0123      0123
///   step 0   01        23        01        23         0 with 1, 2 with 3: half of the vector each way
///   step 1   0         2         1         3          0 with 2, 1 with 3: a quarter
template <class Pairs>
class Halving {
 public:
  Halving(const Call& call, int places) noexcept : Halving(Blocks(call, places), places) {}
  Halving(const Blocks& blocks, int places) noexcept : blocks_(blocks), places_(places) {}

  [[nodiscard]] static int steps(int places) noexcept { return std::countr_zero(static_cast<unsigned>(places)); }
  [[nodiscard]] int steps() const noexcept { return steps(places_); }
  [[nodiscard]] int peer(int place, int step) const noexcept { return Pairs::peer(place, step, places_); }
  /// What of `vector` a place holds after so many steps.
  [[nodiscard]] Bytes piece(Bytes vector, int place, int steps) const noexcept {
    const Range range = range_of(Pairs::number(place, places_), steps);
    return vector.subspan(blocks_.offset(range.first), blocks_.span_bytes(range.first, range.last));
  }
  /// The length of the longest piece after so many steps, which is that of the place with number 0.
  [[nodiscard]] std::size_t longest_piece(int steps) const noexcept {
    return blocks_.span_bytes(0, range_of(0, steps).last);
  }

 private:
  struct Range {
    int first;
    int last;
  };
  [[nodiscard]] Range range_of(int number, int steps) const noexcept {
    Range range{0, places_};
    for (int step = 0; step < steps; ++step) {
      const int middle = (range.first + range.last) / 2;
      if (((number >> step) & 1) == 0) {
        range.last = middle;
      } else {
        range.first = middle;
      }
    }
    return range;
  }

  Blocks blocks_;
  int places_;
};

/// Which partners swap most in a series of steps in each of which half as much goes twice as far, or twice as much.
enum class Longest { to_the_nearest, to_the_farthest };

/// Traffic::to_next where the nearest swap half of all that is swapped, those twice as far a quarter, and so on.
inline constexpr double halved_to_next = 0.5;

/// Of messages: a block of the call for each of a power of two ranks, shared out or put together by pairs.
template <class Pairs>
[[nodiscard]] Traffic traffic_of_pairs(const Problem& problem, Longest longest) noexcept {
  Traffic traffic{.shared = {}, .messages = {}, .to_next = longest == Longest::to_the_nearest ? halved_to_next : 0};
  const int steps = Halving<Pairs>::steps(problem.ranks);
  for (int step = 0; step < steps; ++step) {
    const int blocks = longest == Longest::to_the_farthest ? 1 << step : problem.ranks >> (step + 1);
    LevelTraffic& level = level_of(traffic, problem, Pairs::reach(step));
    level.messages += 1;
    level.bytes += blocks * static_cast<double>(problem.call.bytes());
  }
  return traffic;
}

/// The same, reduced.
template <class Pairs>
[[nodiscard]] Traffic traffic_of_halving(const Problem& problem, Longest longest) noexcept {
  Traffic traffic = traffic_of_pairs<Pairs>(problem, longest);
  traffic.messages.reduced = traffic.messages.bytes;
  traffic.inside.reduced = traffic.inside.bytes;
  return traffic;
}

/// Reduces the places' vectors into the piece that each of them holds in the end. `scratch` is as long as half a
/// vector.
template <class Pairs>
Task<> halving_reduce_scatter(Transport& transport, Fold fold, Halving<Pairs> halving, Reduction reduction,
                              Bytes vector, Bytes scratch) {
  for (int step = 0; step < halving.steps(); ++step) {
    const int peer_place = halving.peer(fold.place(), step);
    const int peer = fold.rank_at(peer_place);
    const Bytes kept = halving.piece(vector, fold.place(), step + 1);
    const Bytes incoming = scratch.first(kept.size());
    co_await transport.sendrecv(halving.piece(vector, peer_place, step + 1), peer, incoming, peer);
    reduction.into_left(kept, incoming);
  }
}

/// The same steps backwards, without a reduction: from the pieces to the whole vector.
template <class Pairs>
Task<> doubling_allgather(Transport& transport, Fold fold, Halving<Pairs> halving, Bytes vector) {
  for (int step = halving.steps() - 1; step >= 0; --step) {
    const int peer_place = halving.peer(fold.place(), step);
    const int peer = fold.rank_at(peer_place);
    co_await transport.sendrecv(halving.piece(vector, fold.place(), step + 1), peer,
                                halving.piece(vector, peer_place, step + 1), peer);
  }
}

}  // namespace chorus
