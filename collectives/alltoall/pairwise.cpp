// SPDX-License-Identifier: Apache-2.0
//
// Pairwise alltoall: in each step the ranks form pairs, and the two of a pair swap the blocks for each other.
//
// In step s the ranks whose sum is s, or s + p, are a pair; a rank that would be its own partner sits out. With p = 4:
//
//   step 0   1-3
//   step 1   0-1 2-3
//   step 2   0-2
//   step 3   0-3 1-2
//
// Best for long blocks: each goes once, straight to its place, or in place by way of one block of working memory. Its
// p-1 messages make it slow for short blocks. Right for any p.

#include "algorithm.hpp"
#include "reduction.hpp"

namespace chorus::alltoall_pairwise {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const double others = problem.ranks - 1;
  const double bytes = others * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = others, .bytes = bytes, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const std::size_t bytes = arguments.call.bytes();
  const bool in_place = arguments.in == arguments.out;
  const Scratch scratch = transport.scratch(in_place ? bytes : 0);
  const auto offset = [&](int rank) { return static_cast<std::size_t>(rank) * bytes; };

  copy_unless_same(arguments.out + offset(me), arguments.in + offset(me), bytes);
  for (int step = 0; step < ranks; ++step) {
    const int peer = (step + ranks - me) % ranks;
    if (peer == me) continue;
    const ConstBytes outgoing(arguments.in + offset(peer), bytes);
    const Bytes incoming(in_place ? scratch.data() : arguments.out + offset(peer), bytes);
    co_await transport.sendrecv(outgoing, peer, incoming, peer);
    copy_unless_same(arguments.out + offset(peer), incoming.data(), bytes);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "pairwise",
    .summary = "pairs of ranks swap their blocks, one pair after another: no copies, many messages",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::alltoall_pairwise
