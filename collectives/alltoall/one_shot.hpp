// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::alltoall_one_shot {

// Every rank shows its blocks for the others, and each copies those that are for it: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {.messages = 1, .bytes = bytes * (2 * problem.ranks - 1), .reduced = 0}, .messages = {}};
}

template <class Place>
struct Steps {
  static std::size_t offset(const Arguments& arguments, int rank) {
    return static_cast<std::size_t>(rank) * arguments.call.bytes();
  }
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    write_for_others<Place>(memory, round, arguments);
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::size_t own = offset(arguments, memory.rank());
    const std::size_t block = arguments.call.bytes();
    copy_unless_same(arguments.out + own, arguments.in + own, block);
    for_others(memory, [&](int rank) {
      const std::byte* const theirs = Place::of(memory, round, rank) + offset_of_block(rank, memory.rank(), block);
      copy_unless_same(arguments.out + offset(arguments, rank), theirs, block);
    });
  }
};

}  // namespace chorus::alltoall_one_shot
