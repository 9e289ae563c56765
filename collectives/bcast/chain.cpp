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

#include "algorithm.hpp"
#include "base/machine.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::bcast_chain {
namespace {

std::size_t segment_of(const Call& call) {
  return std::max(call.whole_bytes(machine::longest_segment), call.element_bytes());
}

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const auto all = static_cast<double>(problem.call.bytes());
  const auto segment = static_cast<double>(segment_of(problem.call));
  const double between = std::max(0, problem.ranks - 2);  // ranks that get and pass on: their first round only gets
  const double first = std::min(between, 1.0);
  const double segments = problem.ranks == 1 ? 0 : std::max(1.0, std::ceil(all / segment));
  return {.shared = {},
          .messages = {.messages = segments + first, .bytes = problem.ranks == 1 ? 0 : all, .reduced = 0},
          .waited = {.messages = between - first, .bytes = between * std::min(all, segment), .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int ranks = transport.size();
  const int root = arguments.call.root;
  const int place = (transport.rank() + ranks - root) % ranks;
  const int previous = place == 0 ? no_rank : (transport.rank() + ranks - 1) % ranks;
  const int next = place == ranks - 1 ? no_rank : (transport.rank() + 1) % ranks;
  const Bytes data(arguments.out, arguments.call.bytes());
  const std::size_t most = segment_of(arguments.call);
  const std::size_t segments = std::max<std::size_t>(1, (data.size() + most - 1) / most);
  const auto segment = [&](std::size_t number) {
    return data.subspan(number * most, std::min(most, data.size() - number * most));
  };
  if (ranks == 1) co_return;
  if (previous != no_rank) co_await transport.receive(segment(0), previous);
  for (std::size_t number = 0; number < segments; ++number) {
    const bool more = previous != no_rank && number + 1 < segments;
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
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::bcast_chain
