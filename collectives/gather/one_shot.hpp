// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link_model.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::gather_one_shot {

// Every rank shows its block, and the root copies them all: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double kept = problem.ranks > 1 ? kept_bytes(problem.call) : 0;
  return {.shared = {.messages = 1, .bytes = bytes},
          .alone = bytes * (problem.ranks - 1) + kept,
          .messages = {},
          .arrivals = arrivals_of_givers(problem, 1)};
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
    const std::size_t bytes = arguments.call.bytes();
    for (int rank = 0; rank < memory.size(); ++rank) {
      std::byte* const block = arguments.out + static_cast<std::size_t>(rank) * bytes;
      if (rank != memory.rank()) copy_unless_same(block, Place::of(memory, round, rank), bytes);
      if (rank == memory.rank() && arguments.in != arguments.out) copy_unless_same(block, arguments.in, bytes);
    }
  }
};

}  // namespace chorus::gather_one_shot
