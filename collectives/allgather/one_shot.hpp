// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::allgather_one_shot {

// Every rank shows its block, and each copies everybody's: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {.messages = 1, .bytes = bytes * (1 + problem.ranks), .reduced = 0},
          .messages = {},
          .far = far_by_all(problem, bytes * (problem.ranks - 1))};
}

template <class Place>
struct Steps {
  static std::byte* block(const Arguments& arguments, int rank) {
    return arguments.out + static_cast<std::size_t>(rank) * arguments.call.bytes();
  }
  static const std::byte* own(const SharedGroup& memory, const Arguments& arguments) {
    return arguments.in == arguments.out ? block(arguments, memory.rank()) : arguments.in;
  }
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    Place::write(memory, round, own(memory, arguments), arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const int me = memory.rank();
    copy_unless_same(block(arguments, me), own(memory, arguments), arguments.call.bytes());
    for_others(memory, [&](int rank) {
      copy_unless_same(block(arguments, rank), Place::of(memory, round, rank), arguments.call.bytes());
    });
  }
};

}  // namespace chorus::allgather_one_shot
