// SPDX-License-Identifier: Apache-2.0
//
// Circulant reduce_scatter: as reduce_scatter_block's `circulant`, with blocks of any lengths.
//
// Best for short and middling vectors: log2(p) rounds, rounded up. Where one rank gets almost all, almost all moves in
// each round; `in_order` sends that rank as much from each of the others.

#include "circulant.hpp"
#include "algorithm.hpp"
#include "blocks.hpp"

namespace chorus::reduce_scatter_circulant {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const double steps = problem.ranks - 1;
  const double bytes = steps * static_cast<double>(problem.call.bytes()) / problem.ranks;
  const double rounds = CirculantRounds(problem.ranks).count();
  return {.shared = {}, .messages = {.messages = rounds, .bytes = bytes, .reduced = bytes}};
}

Task<> run(Transport& transport, Arguments arguments) {
  return circulant_reduce_scatter(transport, Blocks(arguments.in_sections), arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "circulant",
    .summary = "halves the blocks round a circle: few messages for any number of ranks",
    .source = "Traeff, arXiv:2410.14234, 2024",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_scatter_circulant
