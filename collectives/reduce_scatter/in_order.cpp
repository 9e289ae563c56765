// SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter in order: every rank sends every other one its block; when all have come, they are reduced in the
// order of the ranks.
//
// Right for blocks of any lengths and any function. Each rank holds its block of every rank at a time.

#include "algorithm.hpp"
#include "reduction.hpp"

#include <span>

namespace chorus::reduce_scatter_in_order {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const double steps = problem.ranks - 1;
  const double bytes = steps * static_cast<double>(problem.call.bytes()) / problem.ranks;
  return {.shared = {}, .messages = {.messages = steps, .bytes = bytes, .reduced = bytes}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const std::span<const Section> blocks = arguments.in_sections;
  const Section mine = blocks[static_cast<std::size_t>(me)];
  const Scratch scratch = transport.scratch(static_cast<std::size_t>(ranks) * mine.bytes);
  const auto offset = [&](int rank) { return static_cast<std::size_t>(rank) * mine.bytes; };
  for (int step = 1; step < ranks; ++step) {
    const int ahead = (me + step) % ranks;
    const int behind = (me + ranks - step) % ranks;
    const Section& theirs = blocks[static_cast<std::size_t>(ahead)];
    const ConstBytes outgoing(arguments.in + theirs.offset, theirs.bytes);
    co_await transport.sendrecv(outgoing, ahead, scratch.bytes().subspan(offset(behind), mine.bytes), behind);
  }
  const Scratch places = transport.scratch(static_cast<std::size_t>(ranks) * sizeof(const std::byte*));
  const std::span<const std::byte*> inputs(reinterpret_cast<const std::byte**>(places.data()),
                                           static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    inputs[static_cast<std::size_t>(rank)] = rank == me ? arguments.in + mine.offset : scratch.data() + offset(rank);
  }
  Reduction(arguments).all(arguments.out, inputs, mine.bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "in_order",
    .summary = "every rank sends every other one its block and reduces in order: nothing is passed on",
    .source = "MPI Forum, MPI 4.0, 2021, section 6.9 (the order of reductions)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_in_order
