// SPDX-License-Identifier: Apache-2.0
//
// Dissemination barrier: in round k each rank tells the rank 2^k ahead, and waits for the one 2^k behind.
//
// After round k a rank knows of the 2^(k+1) ranks that end with itself. With p = 5, what rank 0 knows of:
//
//   start    0
//   round 0  0 and 4           heard from 4, tells 1
//   round 1  0 4 and 3 2       heard from 3, tells 2
//   round 2  0 4 3 2 and 1     heard from 1, tells 4
//
// The fewest rounds, log2(p) rounded up, for any p. All p ranks send in all of them: where the ranks outnumber the
// cores, `binomial` gives them less to do.

#include "algorithm.hpp"

#include <bit>

namespace chorus::barrier_dissemination {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const auto rounds = static_cast<double>(std::bit_width(static_cast<unsigned>(problem.ranks - 1)));
  return {.shared = {}, .messages = {.messages = rounds, .bytes = 0, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments /*arguments*/) {
  const int ranks = transport.size();
  const ConstBytes nothing_out;
  const Bytes nothing_in;
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int ahead = (transport.rank() + distance) % ranks;
    const int behind = (transport.rank() + ranks - distance) % ranks;
    co_await transport.sendrecv(nothing_out, ahead, nothing_in, behind);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "dissemination",
    .summary = "every rank tells others over doubling distances: fewest rounds",
    .source = "Hensgen, Finkel and Manber, Int. J. Parallel Program. 17(1), 1988",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::barrier_dissemination
