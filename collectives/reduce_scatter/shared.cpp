// SPDX-License-Identifier: Apache-2.0
//
// Shared reduce_scatter: every rank copies the other ranks' blocks into its slot of the shared memory, in each round
// the same share of every block; each reads its own block in everybody's slot and reduces it, in the order of the
// ranks.
//
// So all ranks reduce in every round, however long their blocks are. A rank writes and reads what it must: the others'
// blocks, and its own one of each of them.

#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

namespace chorus::reduce_scatter_shared {
namespace {

/// The largest of `rounds` pieces that a block is divided into.
std::size_t piece_of(const Section& block, std::size_t element, int rounds) {
  return Pieces(block.bytes, element, rounds).bytes(0);
}

/// The least number of rounds in which a piece of every block fits into a slot. Pieces are of whole lines, so that a
/// few more than slots full of data may be needed.
int rounds_of(std::span<const Section> blocks, std::size_t element, std::size_t slot_bytes, std::size_t all) {
  const auto together = [&](int rounds) {
    return std::transform_reduce(blocks.begin(), blocks.end(), std::size_t{0}, std::plus<>(),
                                 [&](const Section& block) { return piece_of(block, element, rounds); });
  };
  int rounds = std::max(1, static_cast<int>((all + slot_bytes - 1) / slot_bytes));
  while (together(rounds) > slot_bytes) ++rounds;
  return rounds;
}

bool applies(const Problem& problem) {
  // A line, or an element, of every block fits into a slot.
  return problem.shared && problem.slot_bytes / std::max<std::size_t>(64, problem.call.element_bytes()) >=
                               static_cast<std::size_t>(problem.ranks);
}

Traffic traffic(const Problem& problem) {
  const auto bytes = static_cast<double>(problem.call.bytes());
  const double slot = static_cast<double>(problem.slot_bytes);
  const double read = bytes * (problem.ranks - 1) / problem.ranks;
  return {.shared = {.messages = std::max(1.0, std::ceil(bytes / slot)), .bytes = 2 * read, .reduced = read},
          .messages = {}};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const auto me = static_cast<std::size_t>(memory.rank());
  const std::span<const Section> blocks = arguments.in_sections;
  const std::size_t element = arguments.call.element_bytes();
  const int rounds = rounds_of(blocks, element, memory.slot_bytes(), arguments.call.bytes());
  const Pieces mine(blocks[me].bytes, element, rounds);
  std::size_t my_place = 0;
  for (const Section& block : blocks.first(me)) my_place += piece_of(block, element, rounds);
  // In place the result stands where other ranks' data is, until that is in the slots.
  const bool in_place = arguments.in == arguments.out;
  const Scratch scratch = transport.scratch(in_place ? blocks[me].bytes : 0);
  std::byte* const result = in_place ? scratch.data() : arguments.out;
  for (int piece = 0; piece < rounds; ++piece) {
    const Round round = co_await memory.open(data_slots);
    std::byte* place = memory.slot(round, memory.rank());
    for (const Section& block : blocks) {
      const Pieces pieces(block.bytes, element, rounds);
      const std::byte* const data = arguments.in + block.offset + pieces.offset(piece);
      if (&block != &blocks[me]) memory.put(place, data, pieces.bytes(piece));
      place += pieces.bytes(0);
    }
    memory.arrive(round);
    co_await memory.arrivals(round);
    if (mine.bytes(piece) == 0) continue;
    const std::span<const std::byte*> inputs = memory.slots(round, my_place);
    inputs[me] = arguments.in + blocks[me].offset + mine.offset(piece);
    reduction.all(result + mine.offset(piece), inputs, mine.bytes(piece));
  }
  if (in_place) copy_unless_same(arguments.out, result, blocks[me].bytes);
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
