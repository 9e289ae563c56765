// SPDX-License-Identifier: Apache-2.0
//
// Bruck's alltoall: a block that has to go d ranks ahead goes by the powers of two that d is made of, in one message
// with all others that take the same step.
//
// Each rank turns its blocks so that block d is the one for the rank d ahead. In round k it sends the blocks whose
// number has bit k to the rank 2^k ahead, which keeps them under the same numbers. In the end block d has come from the
// rank d behind. With p = 5:
//
//   round 0   blocks 1 3   1 rank ahead
//   round 1   blocks 2 3   2 ranks ahead
//   round 2   block 4      4 ranks ahead
//
// Best for short blocks on many ranks: log2(p) messages, rounded up, for any p. Each byte is sent up to log2(p) times
// and copied more often: for long blocks `pairwise` is better.

#include "algorithm.hpp"
#include "circulant.hpp"

namespace chorus::alltoall_bruck {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  int rounds = 0;
  int blocks = 0;
  for (int bit = 1; bit < problem.ranks; bit *= 2) {
    ++rounds;
    for (int block = bit; block < problem.ranks; ++block) blocks += (block & bit) != 0 ? 1 : 0;
  }
  return {.shared = {},
          .messages = {.messages = static_cast<double>(rounds),
                       .bytes = blocks * static_cast<double>(problem.call.bytes()),
                       .reduced = 0}};
}

/// Copies the blocks whose number has `bit` out of `turned`, one after another; returns their length.
std::size_t pack(std::byte* packed, const std::byte* turned, std::size_t bytes, int ranks, int bit) {
  std::size_t done = 0;
  for (int block = bit; block < ranks; ++block) {
    if ((block & bit) == 0) continue;
    copy_unless_same(packed + done, turned + static_cast<std::size_t>(block) * bytes, bytes);
    done += bytes;
  }
  return done;
}

/// Copies them back.
void unpack(std::byte* turned, const std::byte* packed, std::size_t bytes, int ranks, int bit) {
  for (int block = bit; block < ranks; ++block) {
    if ((block & bit) == 0) continue;
    copy_unless_same(turned + static_cast<std::size_t>(block) * bytes, packed, bytes);
    packed += bytes;
  }
}

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const std::size_t bytes = arguments.call.bytes();
  const std::size_t all = static_cast<std::size_t>(ranks) * bytes;
  const std::size_t half = static_cast<std::size_t>(ranks / 2) * bytes;  // no round sends more
  const TurnedBlocks blocks(Blocks(all, 1, ranks), ranks, me);
  const Scratch scratch = transport.scratch(all + 2 * half);
  std::byte* const turned = scratch.data();
  const Bytes outgoing = scratch.bytes().subspan(all, half);
  const Bytes incoming = scratch.bytes().subspan(all + half, half);

  blocks.turn(turned, arguments.in);
  for (int bit = 1; bit < ranks; bit *= 2) {
    const std::size_t length = pack(outgoing.data(), turned, bytes, ranks, bit);
    const int ahead = (me + bit) % ranks;
    const int behind = (me + ranks - bit) % ranks;
    co_await transport.sendrecv(outgoing.first(length), ahead, incoming.first(length), behind);
    unpack(turned, incoming.data(), bytes, ranks, bit);
  }
  for (int block = 0; block < ranks; ++block) {
    const auto from = static_cast<std::size_t>((me + ranks - block) % ranks);
    copy_unless_same(arguments.out + from * bytes, turned + static_cast<std::size_t>(block) * bytes, bytes);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "bruck",
    .summary = "blocks travel by powers of two, many in a message: few messages for short blocks",
    .source = "Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::alltoall_bruck
