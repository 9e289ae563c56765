// SPDX-License-Identifier: Apache-2.0
//
// Pipelined chain reduction: the sum so far comes from rank to rank in segments; each rank adds its own segment and
// passes the sum on while it gets the next one.
//
// With p = 3, root 0 and the segments 0, 1, 2:
//
//   round 1          1 <-0- 2
//   round 2   0 <-0- 1 <-1- 2
//   round 3   0 <-1- 1 <-2- 2
//   round 4   0 <-2- 1
//
// Best for long vectors on few ranks: each rank sends and reduces it once, only neighbours talk, and the root has all
// of it p-2 segments after the last rank has sent it. For another root the ranks are counted from it.

#include "chain.hpp"
#include "reduction.hpp"

namespace chorus::reduce_chain {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  Traffic traffic = Chain::traffic(problem);
  traffic.messages.reduced = traffic.messages.bytes;
  traffic.waited.reduced = traffic.waited.bytes;
  return traffic;
}

Task<> run(Transport& transport, Arguments arguments) {
  const Chain chain(transport, arguments.call);
  const Reduction reduction(arguments);
  const int previous = chain.farther();
  const int next = chain.nearer();
  const Scratch scratch = transport.scratch(2 * chain.longest_bytes());
  const Bytes incoming = scratch.bytes().first(chain.longest_bytes());

  if (previous == no_rank && next == no_rank) copy_unless_same(arguments.out, arguments.in, arguments.call.bytes());
  if (previous != no_rank) co_await transport.receive(incoming.first(chain.bytes(0)), previous);
  for (std::size_t number = 0; number < chain.segments(); ++number) {
    const bool more = previous != no_rank && number + 1 < chain.segments();
    const std::byte* sum = arguments.in + chain.offset(number);
    if (previous != no_rank) {
      std::byte* const out = next == no_rank ? arguments.out + chain.offset(number) : scratch.data() + incoming.size();
      const std::byte* const both[] = {sum, incoming.data()};
      reduction.all(out, both, chain.bytes(number));
      sum = out;
    }
    if (next == no_rank && !more) break;
    co_await transport.start({.outgoing = {sum, chain.bytes(number)},
                              .destination = next,
                              .incoming = more ? incoming.first(chain.bytes(number + 1)) : Bytes(),
                              .source = more ? previous : no_rank,
                              .where = Where::here()});
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "chain",
    .summary = "sums come from rank to rank in segments, each passed on while the next one comes: long data, few ranks",
    .source = "Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, Scalable High Performance Computing Conf., 1994",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_chain
