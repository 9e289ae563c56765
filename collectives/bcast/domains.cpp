// SPDX-License-Identifier: Apache-2.0
//
// Domains bcast: the ranks of each package, and of each domain of the root's package, fetch a share each from the root
// and then gather the shares from each other, from the outside in: each byte crosses to each of them once.
//
// Two packages of two ranks, root 0, pieces A B C D (which are shared out by the place in the package first):
//
//                      rank 0    rank 1    rank 2    rank 3
//   from the root      all       A B C D   A B       C D
//   in the package                         A B C D   A B C D
//
// The root streams its data through its slots, a segment a round; in the same round the ranks gather the shares of
// segments that have come before at the levels below, so that no level waits for another. Every rank waits for its
// partners of all levels in each round. Data of up to a cell is passed on whole (passed_on.hpp).

#include "bcast/passed_on.hpp"
#include "bcast/receiver.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::bcast_domains {
namespace {

bool applies(const Problem& problem) { return has_domains(problem); }

Traffic traffic(const Problem& problem) {
  if (problem.call.bytes() <= short_cells.bytes) return bcast_passed_on::traffic(problem);
  const Radices& radices = problem.domains;
  const double bytes = static_cast<double>(problem.call.bytes());
  const double segment = static_cast<double>(segment_of(problem.slot_bytes, radices));
  double shown = 0;
  for (int level = 1; level < radices.levels; ++level) shown += bytes / radices.stride(level);
  const double rounds = std::ceil(bytes / segment) + radices.levels - 1;
  return {.shared = {.messages = rounds, .bytes = std::min(segment, bytes) + bytes + shown, .reduced = 0},
          .messages = {},
          .arrivals = rounds * (1 + partners_at_all_levels(radices)),
          .far = bytes};
}

Task<> run_in_segments(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const DomainRank me(memory, memory.rank());
  const Receiver receiver(memory, arguments);
  const int root = arguments.call.root;
  const std::size_t all = arguments.call.bytes();
  const std::size_t segment = segment_of(memory.slot_bytes(), memory.shape().radices());
  const std::size_t segments = (all + segment - 1) / segment;
  const auto before_last = static_cast<std::size_t>(me.levels() - 1);
  for (std::size_t step = 0; step < segments + before_last; ++step) {
    const Round round = co_await memory.open(data_slots);
    const bool sends = memory.rank() == root && step < segments;
    if (sends)
      memory.put(memory.slot(round, root), arguments.in + step * segment, std::min(segment, all - step * segment));
    if (memory.rank() != root) receiver.show(round, step);
    memory.arrive(round);
    if (memory.rank() != root && step < segments) {
      co_await memory.arrival(round, root);
      receiver.fetch_from_root(round, step);
    }
    for (int level = 0; level < me.levels(); ++level) {
      for (int digit = 0; digit < me.radix(level); ++digit) co_await memory.arrival(round, me.partner(level, digit));
    }
    if (memory.rank() != root) receiver.fetch_from_partners(round, step);
    if (step >= before_last) memory.know_arrivals(round - before_last);
  }
}

Task<> run(Transport& transport, Arguments arguments) {
  if (arguments.call.bytes() <= payload_bytes) return bcast_passed_on::run<InLine>(transport, arguments);
  if (arguments.call.bytes() <= short_cells.bytes) return bcast_passed_on::run<InCell>(transport, arguments);
  return run_in_segments(transport, arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "domains",
    .summary = "each part of the node fetches the data once, its ranks share the work: large nodes",
    .source = "Lanes: Traeff and Hunold, CLUSTER 2020; in shared memory: Jain et al., SC 2018",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::bcast_domains
