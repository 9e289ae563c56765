// SPDX-License-Identifier: Apache-2.0
//
// Line barrier: every rank writes its arrival into a cache line of its own and reads those of all others.
//
// One round, one line each way with 2 ranks. With p ranks every line is read p-1 times: for few ranks near each other.

#include "one_round.hpp"

namespace chorus::barrier_line {
namespace {

Traffic traffic(const Problem& /*problem*/) {
  return {.shared = {.messages = 1, .bytes = 0, .reduced = 0}, .messages = {}};
}

template <class Place>
struct Steps {
  static void write(SharedGroup& /*memory*/, Round /*round*/, const Arguments& /*arguments*/) {}
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void read(SharedGroup& /*memory*/, Round /*round*/, const Arguments& /*arguments*/) {}
};

using OneShot = OneRoundInLine<Steps>;

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "every rank writes one cache line and reads everybody's: inside a node",
    .source = "Mellor-Crummey and Scott, ACM Trans. Comput. Syst. 9(1), 1991 (single-writer flags)",
    .applies = OneShot::applies,
    .traffic = traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::barrier_line
