// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::allreduce_one_shot {

// Every rank shows its data to all, and each reduces them all itself in the order of the ranks: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return {.shared = {.messages = 1, .bytes = bytes * (1 + others), .reduced = bytes * others},
          .messages = {},
          .far = far_by_all(problem, bytes * others)};
}

template <class Place>
struct Steps {
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    Place::write(memory, round, arguments.in, arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::span<const std::byte*> inputs = Place::of_all(memory, round);
    inputs[static_cast<std::size_t>(memory.rank())] = arguments.in;  // nearer than what is on its way to the others
    Reduction(arguments).all(arguments.out, inputs, arguments.call.bytes());
  }
};

}  // namespace chorus::allreduce_one_shot
