// SPDX-License-Identifier: Apache-2.0
//
// Circulant reduce-scatter: each round passes on the later half of the blocks that a rank still holds, its own first.
//
// With p = 5, the blocks that each rank holds:
//
//            rank 0    rank 1    rank 2    rank 3    rank 4
//   start    01234     12340     23401     34012     40123
//   round 1  012       123       234       340       401       the last two go 3 ranks ahead
//   round 2  01        12        23        34        40        the last one goes 2 ranks ahead
//   round 3  0         1         2         3         4         the last one goes 1 rank ahead
//
// Best for short and middling blocks where p is no power of two: log2(p) rounds, rounded up, and no byte more than
// needed. All blocks are copied once first, to begin with the rank's own: for long blocks `pairwise` is better.

#include "circulant.hpp"
#include "algorithm.hpp"
#include "blocks.hpp"

namespace chorus::reduce_scatter_block_circulant {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const int rounds = CirculantRounds(problem.ranks).count();
  const double bytes = (problem.ranks - 1) * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = static_cast<double>(rounds), .bytes = bytes, .reduced = bytes}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const Call& call = arguments.call;
  const std::size_t count = call.count * static_cast<std::size_t>(transport.size());
  return circulant_reduce_scatter(transport, {count, call.element_bytes(), transport.size()}, arguments);
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

}  // namespace chorus::reduce_scatter_block_circulant
