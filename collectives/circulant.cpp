// SPDX-License-Identifier: Apache-2.0
#include "circulant.hpp"

namespace chorus {

Task<> circulant_reduce_scatter(Transport& transport, TurnedBlocks blocks, Reduction reduction, Bytes turned) {
  const int ranks = transport.size();
  const CirculantRounds rounds(ranks);
  const Scratch scratch = transport.scratch(blocks.offset(ranks / 2));
  for (int round = 0; round < rounds.count(); ++round) {
    const int all = rounds.reach(round);
    const int kept = rounds.reach(round + 1);
    const int ahead = (transport.rank() + kept) % ranks;
    const int behind = (transport.rank() + ranks - kept) % ranks;
    const Bytes mine = blocks.range(turned, 0, all - kept);
    const Bytes incoming = scratch.bytes().first(mine.size());
    co_await transport.sendrecv(blocks.range(turned, kept, all), ahead, incoming, behind);
    reduction.into_left(mine, incoming);
  }
}

Task<> circulant_reduce_scatter(Transport& transport, Blocks blocks, Arguments arguments) {
  const TurnedBlocks turned_blocks(blocks, transport.size(), transport.rank());
  const Scratch turned = transport.scratch(turned_blocks.offset(transport.size()));
  turned_blocks.turn(turned.data(), arguments.in);
  co_await circulant_reduce_scatter(transport, turned_blocks, Reduction(arguments), turned.bytes());
  copy_unless_same(arguments.out, turned.data(), blocks.bytes(transport.rank()));
}

Task<> circulant_allgather(Transport& transport, TurnedBlocks blocks, Bytes turned) {
  const int ranks = transport.size();
  const CirculantRounds rounds(ranks);
  for (int round = rounds.count() - 1; round >= 0; --round) {
    const int all = rounds.reach(round);
    const int known = rounds.reach(round + 1);
    const int ahead = (transport.rank() + known) % ranks;
    const int behind = (transport.rank() + ranks - known) % ranks;
    co_await transport.sendrecv(blocks.range(turned, 0, all - known), behind, blocks.range(turned, known, all), ahead);
  }
}

}  // namespace chorus
