// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link_model.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::bcast_one_shot {

// The root shows its data and the others copy them: `line` and `slot`.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {.messages = 1, .bytes = bytes},
          .alone = bytes,  // the root's
          .messages = {},
          .arrivals = arrivals_of_givers(problem, 1),
          .far = far_from_one(problem, bytes)};
}

template <class Place>
struct Steps {
  static bool is_root(const SharedGroup& memory, const Arguments& arguments) {
    return memory.rank() == arguments.call.root;
  }
  static void write(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (is_root(memory, arguments)) Place::write(memory, round, arguments.in, arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& memory, const Arguments& arguments) {
    return is_root(memory, arguments) ? Awaited::nobody : Awaited::giving_root;
  }
  static void read(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (is_root(memory, arguments)) return;
    copy_unless_same(arguments.out, Place::of(memory, round, arguments.call.root), arguments.call.bytes());
  }
};

}  // namespace chorus::bcast_one_shot
