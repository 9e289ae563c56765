// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "one_round.hpp"
#include "reduction.hpp"

#include <span>

namespace chorus::reduce_scatter_one_shot {

// Every rank shows its whole vector, and each reduces its block of them all: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = problem.ranks > 1 ? static_cast<double>(problem.call.bytes()) : 0;
  return {.shared = {.messages = 1, .bytes = 2 * bytes, .reduced = bytes}, .messages = {}};
}

template <class Place>
struct Steps {
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    Place::write(memory, round, arguments.in, arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  /// Reads this rank's own block where others do, as the result may stand in its input.
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const Section& mine = arguments.in_sections[static_cast<std::size_t>(memory.rank())];
    if (mine.bytes == 0) return;
    const std::span<const std::byte*> inputs = Place::of_all(memory, round);
    for (const std::byte*& input : inputs) input += mine.offset;
    Reduction(arguments).all(arguments.out, inputs, mine.bytes);
  }
};

}  // namespace chorus::reduce_scatter_one_shot
