// SPDX-License-Identifier: Apache-2.0
//
// Dissemination barrier of radix 4: in round k each rank tells the ranks 4^k, 2 * 4^k and 3 * 4^k ahead, and waits for
// those that are so far behind.
//
// After round k a rank knows of the 4^(k+1) ranks that end with itself. With p = 6, what rank 0 knows of:
//
//   start    0
//   round 0  0 and 5, 4, 3     tells 1, 2, 3
//   round 1  all               heard from 2, which knows of 2, 1, 0 and 5; tells 4
//
// Half the rounds of `dissemination`, with up to three messages under way together in each: better where messages take
// their time on the way and not to be sent. Right for any p.

#include "algorithm.hpp"
#include "exchanges.hpp"

#include <array>

namespace chorus::barrier_k_dissemination {
namespace {

constexpr int radix = 4;

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  int messages = 0;
  int rounds = 0;
  for (int distance = 1; distance < problem.ranks; distance *= radix, ++rounds) {
    for (int times = 1; times < radix && times * distance < problem.ranks; ++times) ++messages;
  }
  return {.shared = {},
          .messages = {.messages = static_cast<double>(messages), .bytes = 0, .reduced = 0},
          .together = {.messages = static_cast<double>(messages - rounds)}};
}

Task<> run(Transport& transport, Arguments /*arguments*/) {
  const int me = transport.rank();
  const int ranks = transport.size();
  for (int distance = 1; distance < ranks; distance *= radix) {
    std::array<Envelope, radix - 1> exchanges{};
    for (int times = 1; times < radix && times * distance < ranks; ++times) {
      Envelope& exchange = exchanges[static_cast<std::size_t>(times - 1)];
      exchange.destination = (me + times * distance) % ranks;
      exchange.source = (me + ranks - times * distance) % ranks;
      exchange.where = Where::here();
    }
    co_await three_at_once(transport, exchanges);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "k_dissemination",
    .summary = "every rank tells three others at a time: half the rounds of dissemination",
    .source = "Hoefler, Mehlan, Mietke and Rehm, IPDPS 2006 (n-way dissemination)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::barrier_k_dissemination
