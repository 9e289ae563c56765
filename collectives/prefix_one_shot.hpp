// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "one_round.hpp"
#include "prefix.hpp"
#include "reduction.hpp"

namespace chorus::prefix_one_shot {

// Every rank shows its data, and each reduces those before it in the order of the ranks: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double before = (problem.ranks - 1) * bytes;
  const double by_each = before / 2 + before / problem.ranks;  // read and written, in the mean
  const Traffic traffic{.shared = {.messages = 1, .bytes = by_each, .reduced = joins(problem) ? before : 0},
                        .alone = before - by_each,  // by the last rank
                        .messages = {}};
  return of_calls_in_a_row(traffic, problem, static_cast<double>(problem.ranks) / data_slots);
}

template <class Place>
struct Steps {
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    const bool last = memory.rank() == memory.size() - 1;
    if (!last) Place::write(memory, round, arguments.in, arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& memory, const Arguments& /*arguments*/) {
    return memory.rank() == 0 ? Awaited::nobody : Awaited::givers_before;
  }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    const auto before = static_cast<std::size_t>(memory.rank());
    const std::size_t combined = before + (has_own(arguments.call) ? 1 : 0);
    if (combined == 0) return;
    const std::span<const std::byte*> inputs = Place::of_all(memory, round);
    inputs[before] = arguments.in;
    Reduction(arguments).all(arguments.out, inputs.first(combined), arguments.call.bytes());
  }
};

}  // namespace chorus::prefix_one_shot
