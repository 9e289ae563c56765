// SPDX-License-Identifier: Apache-2.0
//
// Pipelined chain broadcast: the data goes from rank to rank in segments; each rank passes on the segment that it got
// last while it gets the next one.
//
// With p = 3, root 0 and the segments 0, 1, 2:
//
//   round 1   0 -0-> 1
//   round 2   0 -1-> 1 -0-> 2
//   round 3   0 -2-> 1 -1-> 2
//   round 4          1 -2-> 2
//
// Best for long data on few ranks: each rank sends it once, and the last has it p-2 segments after the first. For
// another root the ranks are counted from it.

#include "chain.hpp"

namespace chorus::bcast_chain {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Task<> run(Transport& transport, Arguments arguments) {
  const Chain chain(transport, arguments.call);
  const auto segment = [&](std::size_t number) {
    return Bytes(arguments.out + chain.offset(number), chain.bytes(number));
  };
  const int previous = chain.nearer();
  const int next = chain.farther();
  if (previous != no_rank) co_await transport.receive(segment(0), previous);
  for (std::size_t number = 0; number < chain.segments(); ++number) {
    const bool more = previous != no_rank && number + 1 < chain.segments();
    if (next == no_rank && !more) break;
    co_await transport.start({.outgoing = segment(number),
                              .destination = next,
                              .incoming = more ? segment(number + 1) : Bytes(),
                              .source = more ? previous : no_rank,
                              .where = Where::here()});
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "chain",
    .summary = "segments go from rank to rank, each passed on while the next one comes: long data, few ranks",
    .source = "Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, Scalable High Performance Computing Conf., 1994",
    .applies = applies,
    .traffic = Chain::traffic,
    .run = run,
};

}  // namespace chorus::bcast_chain
