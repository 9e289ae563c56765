// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace chorus {

// Pairs of places in log2(places) steps; `places` is a power of two. In all of them:
// - peer: the other place of the pair, in steps from 0, in which partners are near, to the last, in which they are far;
// - number: of two partners in step s the numbers agree in the bits below s and differ in bit s, so that all places
// with
//   the same bits below s form a group which later steps do not leave;
// - reach: the partners of a step are of one node, but for few, where that has more ranks.

/// Partners are 1, 2, 4, ... apart.
struct Doubling {
  static constexpr bool nearest_first = true;  ///< where whole vectors are swapped, so that places stay in their order
  [[nodiscard]] static constexpr int peer(int place, int step, int /*places*/) noexcept { return place ^ (1 << step); }
  [[nodiscard]] static constexpr int number(int place, int /*places*/) noexcept { return place; }
  [[nodiscard]] static constexpr int reach(int step) noexcept { return 1 << step; }
};

/// The number that is written as `value` in base -2, modulo a power of two; negative values count as modulo it, too.
[[nodiscard]] constexpr int negabinary(int value, int modulus) noexcept {
  constexpr std::uint32_t odd_digits = 0xAAAAAAAA;
  const std::uint32_t digits = (static_cast<std::uint32_t>(value) + odd_digits) ^ odd_digits;
  return static_cast<int>(digits & static_cast<std::uint32_t>(modulus - 1));
}

/// Partners are 1, 1, 3, 5, 11, ... apart: an even place has its partner ahead, then behind, then ahead, and so on,
/// round the end; an odd one the other way round. So they are nearer than by doubling, by a third in the long run.
///
///   8 places:   step 0   0-1 2-3 4-5 6-7        numbers of the places 0 1 2 3 4 5 6 7:
///               step 1   0-7 1-2 3-4 5-6                              0 1 3 4 6 7 5 2
///               step 2   0-3 2-5 4-7 6-1
struct Swing {
  static constexpr bool nearest_first = false;
  [[nodiscard]] static constexpr int reach(int step) noexcept { return 2 << step; }
  /// From an even place: the sum of the powers of -2 up to `step`.
  [[nodiscard]] static constexpr int distance(int step) noexcept {
    const int power = 2 << step;
    return (step % 2 == 0 ? 1 + power : 1 - power) / 3;
  }
  [[nodiscard]] static constexpr int peer(int place, int step, int places) noexcept {
    return (place % 2 == 0 ? place + distance(step) : place - distance(step)) & (places - 1);
  }
  /// Bit s is set where the steps that lead from place 0 to `place`, in the order of their distance, include step s.
  [[nodiscard]] static constexpr int number(int place, int places) noexcept {
    // Two steps that follow one another there go from the digits of base -2 behind the one up to the other: each begins
    // or ends a run of ones. An odd number of steps has one that is left over.
    const int digits = negabinary(place % 2 == 0 ? -place : place - 1, places);
    return digits ^ (digits >> 1) ^ (place % 2);
  }
};

}  // namespace chorus
