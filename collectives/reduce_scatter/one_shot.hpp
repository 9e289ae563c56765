// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/section.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

#include <span>

namespace chorus::reduce_scatter_one_shot {

// Every rank shows its vector, and each reduces its block of them all: `line` and `slot`. In place the result stands
// where a part of the vector is, so that a rank shows, and reads there, its own block, too.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes()) * (problem.ranks - 1) / problem.ranks;
  return {.shared = {.messages = 1, .bytes = 2 * bytes, .reduced = bytes}, .messages = {}};
}

template <class Place>
struct Steps {
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::size_t all = arguments.call.bytes();
    if (in_place(arguments)) return Place::write(memory, round, arguments.in, all);
    const Section& own = own_block(memory, arguments);  // which nobody else reads
    const std::size_t behind = own.offset + own.bytes;
    Place::write(memory, round, arguments.in, own.offset);
    Place::write(memory, round, arguments.in + behind, all - behind, behind);
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const Section& own = own_block(memory, arguments);
    if (own.bytes == 0) return;
    const std::span<const std::byte*> inputs = Place::of_all(memory, round);
    for (const std::byte*& input : inputs) input += own.offset;
    if (!in_place(arguments)) inputs[static_cast<std::size_t>(memory.rank())] = arguments.in + own.offset;
    Reduction(arguments).all(arguments.out, inputs, own.bytes);
  }

 private:
  static bool in_place(const Arguments& arguments) { return arguments.in == arguments.out; }
  static const Section& own_block(const SharedGroup& memory, const Arguments& arguments) {
    return arguments.in_sections[static_cast<std::size_t>(memory.rank())];
  }
};

}  // namespace chorus::reduce_scatter_one_shot
