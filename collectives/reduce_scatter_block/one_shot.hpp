// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::reduce_scatter_block_one_shot {

// Every rank shows its blocks for the others, and each reduces those that are for it: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes()) * (problem.ranks - 1);
  return {.shared = {.messages = 1, .bytes = 2 * bytes, .reduced = bytes},
          .messages = {},
          .far = far_by_all(problem, bytes)};
}

template <class Place>
struct Steps {
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    write_for_others<Place>(memory, round, arguments);
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const auto me = static_cast<std::size_t>(memory.rank());
    const std::size_t block = arguments.call.bytes();
    const std::span<const std::byte*> inputs = Place::of_all(memory, round);
    for (std::size_t rank = 0; rank < me; ++rank) inputs[rank] += (me - 1) * block;
    for (std::size_t rank = me + 1; rank < inputs.size(); ++rank) inputs[rank] += me * block;
    inputs[me] = arguments.in + me * block;
    Reduction(arguments).all(arguments.out, inputs, block);
  }
};

}  // namespace chorus::reduce_scatter_block_one_shot
