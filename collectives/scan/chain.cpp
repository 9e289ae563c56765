// SPDX-License-Identifier: Apache-2.0
//
// Chain scan and exscan: each rank gets the reduction so far from the rank before it, joins its own data to it and
// sends that to the rank behind, a segment at a time.
//
// While one segment goes out the next one comes in. With p = 3 and segments A B C:
//
//            rank 0    rank 1      rank 2
//   step 0   A ->      -> A
//   step 1   B ->      A -> B      -> A
//   step 2   C ->      B -> C      -> B
//   step 3             C ->        -> C
//
// Best for long vectors on few ranks: a rank sends and reduces the vector once. The last rank waits p-1 steps for its
// first segment: for short vectors, or many ranks, `recursive_doubling` is better. Right for any p.

#include "base/machine.hpp"
#include "prefix.hpp"
#include "reduction.hpp"

#include <algorithm>

namespace chorus::scan_chain {
namespace {

std::size_t segment_of(const Call& call) {
  return std::max(call.element_bytes(), call.whole_bytes(machine::longest_segment));
}

std::size_t segments_of(const Call& call) {
  const std::size_t segment = segment_of(call);
  return std::max<std::size_t>(1, (call.bytes() + segment - 1) / segment);
}

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  if (problem.ranks == 1) return {.shared = {}, .messages = {}};
  const double bytes = static_cast<double>(problem.call.bytes());
  const double segment = std::min(bytes, static_cast<double>(segment_of(problem.call)));
  const double steps = static_cast<double>(segments_of(problem.call));
  const double between = problem.ranks - 2;  // ranks that receive and send
  const bool reduces = between > 0 || has_own(problem.call);
  return {.shared = {},
          .messages = {.messages = between > 0 ? steps + 1 : steps, .bytes = bytes, .reduced = reduces ? bytes : 0},
          .waited = {.messages = std::max(0.0, between - 1), .bytes = between * segment, .reduced = between * segment}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const bool own = has_own(arguments.call);
  const bool receives = me > 0;
  const bool sends = me + 1 < transport.size();
  const std::size_t all = arguments.call.bytes();
  const std::size_t segments = segments_of(arguments.call);
  const std::size_t segment_bytes = segment_of(arguments.call);
  const std::size_t longest = std::min(all, segment_bytes);
  const Reduction reduction(arguments);
  const Scratch scratch = transport.scratch(receives ? 2 * longest : 0);
  const auto length = [&](std::size_t segment) { return std::min(segment_bytes, all - segment * segment_bytes); };

  if (!receives && own) copy_unless_same(arguments.out, arguments.in, all);
  const std::byte* combined = nullptr;  // the segment that goes out next
  for (std::size_t step = 0; step <= segments; ++step) {
    const bool gets = receives && step < segments;
    const bool gives = sends && step > 0;
    const Bytes incoming = gets ? scratch.bytes().first(length(step)) : Bytes();
    if (gets || gives) {
      const Envelope envelope{.outgoing = gives ? ConstBytes(combined, length(step - 1)) : ConstBytes(),
                              .destination = gives ? me + 1 : no_rank,
                              .incoming = incoming,
                              .source = gets ? me - 1 : no_rank,
                              .where = Where::here()};
      co_await transport.start(envelope);
    }
    if (step == segments) break;
    const std::byte* const in = arguments.in + step * segment_bytes;
    std::byte* const out = arguments.out + step * segment_bytes;
    if (!receives) {
      combined = in;
      continue;
    }
    std::byte* const joined = own ? out : scratch.data() + longest;
    const std::byte* const both[] = {incoming.data(), in};
    if (own || sends) reduction.all(joined, both, incoming.size());
    if (!own) copy_unless_same(out, incoming.data(), incoming.size());
    combined = joined;
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "chain",
    .summary = "the sum so far goes from rank to rank, in segments: fewest bytes, for long vectors on few ranks",
    .source = "Sanders and Traeff, EuroPVM/MPI 2006 (pipelined linear scan)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::scan_chain
