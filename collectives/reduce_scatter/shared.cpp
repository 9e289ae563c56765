// SPDX-License-Identifier: Apache-2.0
//
// Shared reduce_scatter: every rank copies its data into its slots of the shared memory, a slot's length at a time;
// each rank reduces what of its block has come, in the order of the ranks.

#include "one_round.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::reduce_scatter_shared {
namespace {

bool applies(const Problem& problem) { return problem.shared && problem.call.element_bytes() <= problem.slot_bytes; }

Traffic traffic(const Problem& problem) {
  const auto bytes = static_cast<double>(problem.call.bytes());
  const double slot = static_cast<double>(problem.call.whole_bytes(problem.slot_bytes));
  const double read = bytes * (problem.ranks - 1) / problem.ranks;
  return {.shared = {.messages = std::max(1.0, std::ceil(bytes / slot)),
                     .bytes = problem.ranks > 1 ? bytes + read : 0,
                     .reduced = read},
          .messages = {}};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const auto me = static_cast<std::size_t>(memory.rank());
  const Section mine = arguments.in_sections[me];
  const std::size_t all = arguments.call.bytes();
  const std::size_t slot = arguments.call.whole_bytes(memory.slot_bytes());
  // In place the result stands where other ranks' data is, until that is in the slots.
  const bool in_place = arguments.in == arguments.out;
  const Scratch scratch = transport.scratch(in_place ? mine.bytes : 0);
  std::byte* const result = in_place ? scratch.data() : arguments.out;
  for (std::size_t window = 0; window < all; window += slot) {
    const std::size_t bytes = std::min(slot, all - window);
    const Round round = co_await memory.open(data_slots);
    memory.put(memory.slot(round, memory.rank()), arguments.in + window, bytes);
    memory.arrive(round);
    co_await memory.arrivals(round);
    const std::size_t begin = std::max(mine.offset, window);
    const std::size_t end = std::min(mine.offset + mine.bytes, window + bytes);
    if (begin >= end) continue;
    const std::span<const std::byte*> inputs = memory.slots(round, begin - window);
    inputs[me] = arguments.in + begin;
    reduction.all(result + (begin - mine.offset), inputs, end - begin);
  }
  if (in_place) copy_unless_same(arguments.out, result, mine.bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "every rank reduces its block of everybody's data in shared memory: all lengths in a node",
    .source = "The first half of the two-shot allreduce: Peng et al., SC 2023 (YHCCL)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_shared
