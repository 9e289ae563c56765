// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link_model.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::reduce_one_shot {

// Every rank shows its data, and the root reduces them all in the order of the ranks: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return {.shared = {.messages = 1, .bytes = bytes, .reduced = bytes},
          .alone = bytes * others,
          .messages = {},
          .arrivals = arrivals_of_givers(problem, 1),
          .far = far_by_one(problem, bytes * others)};
}

template <class Place>
struct Steps {
  static bool is_root(const SharedGroup& memory, const Arguments& arguments) {
    return memory.rank() == arguments.call.root;
  }
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (!is_root(memory, arguments)) Place::write(memory, round, arguments.in, arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& memory, const Arguments& arguments) {
    return is_root(memory, arguments) ? Awaited::givers : Awaited::nobody;
  }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (!is_root(memory, arguments)) return;
    const std::span<const std::byte*> inputs = Place::of_all(memory, round);
    inputs[static_cast<std::size_t>(memory.rank())] = arguments.in;
    Reduction(arguments).all(arguments.out, inputs, arguments.call.bytes());
  }
};

}  // namespace chorus::reduce_one_shot
