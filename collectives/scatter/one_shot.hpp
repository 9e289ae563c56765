// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::scatter_one_shot {

// The root shows the blocks of the others, and each copies its own: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double kept = problem.ranks > 1 ? kept_bytes(problem.call) : 0;
  return {.shared = {.messages = 1, .bytes = bytes},
          .alone = bytes * (problem.ranks - 1) + kept,
          .messages = {},
          .arrivals = 1};  // the root's
}

template <class Place>
struct Steps {
  static bool is_root(const SharedGroup& memory, const Arguments& arguments) {
    return memory.rank() == arguments.call.root;
  }
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (is_root(memory, arguments)) write_for_others<Place>(memory, round, arguments);
  }
  static Awaited awaited(const SharedGroup& memory, const Arguments& arguments) {
    return is_root(memory, arguments) ? Awaited::nobody : Awaited::giving_root;
  }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::size_t block = arguments.call.bytes();
    const int root = arguments.call.root;
    if (!is_root(memory, arguments)) {
      copy_unless_same(arguments.out, Place::of(memory, round, root) + offset_of_block(root, memory.rank(), block),
                       block);
    } else if (arguments.in != arguments.out) {
      copy_unless_same(arguments.out, arguments.in + static_cast<std::size_t>(root) * block, block);
    }
  }
};

}  // namespace chorus::scatter_one_shot
