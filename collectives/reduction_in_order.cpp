// SPDX-License-Identifier: Apache-2.0
#include "reduction_in_order.hpp"

#include "reduction.hpp"

#include <cstddef>
#include <span>

namespace chorus {

Task<> reduce_in_order(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const auto block = [&](int rank) { return input_block(arguments, static_cast<std::size_t>(rank)); };
  const Section mine = block(me);
  const Scratch scratch = transport.scratch(static_cast<std::size_t>(ranks) * mine.bytes);
  const auto offset = [&](int rank) { return static_cast<std::size_t>(rank) * mine.bytes; };
  for (int step = 1; step < ranks; ++step) {
    const int ahead = (me + step) % ranks;
    const int behind = (me + ranks - step) % ranks;
    const Section theirs = block(ahead);
    const ConstBytes outgoing(arguments.in + theirs.offset, theirs.bytes);
    co_await transport.sendrecv(outgoing, ahead, scratch.bytes().subspan(offset(behind), mine.bytes), behind);
  }
  const Scratch places = transport.scratch(static_cast<std::size_t>(ranks) * sizeof(const std::byte*));
  const std::span<const std::byte*> inputs(reinterpret_cast<const std::byte**>(places.data()),
                                           static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    inputs[static_cast<std::size_t>(rank)] = rank == me ? arguments.in + mine.offset : scratch.data() + offset(rank);
  }
  Reduction(arguments).all(arguments.out, inputs, mine.bytes);
}

}  // namespace chorus
