// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce_scatter_block.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, ReduceOp op) {
  constexpr Collective collective = Collective::reduce_scatter_block;
  check_op(state, collective, buffers.type, op);
  const auto ranks = static_cast<std::size_t>(state.size());
  const bool in_place = buffers.in == buffers.out && buffers.in_count == buffers.out_count;
  const std::size_t count = in_place ? buffers.in_count / ranks : buffers.out_count;
  check_counts(state, collective, buffers, buffers.in_count == count * ranks,
               "in holds one block for each rank, of the same length");
  if (!in_place) check_overlap(state, collective, buffers);
  return {.call = {.collective = collective, .type = buffers.type, .op = op, .count = count},
          .in = static_cast<const std::byte*>(buffers.in),
          .out = static_cast<std::byte*>(buffers.out)};
}

}  // namespace

void reduce_scatter_block(const Communicator& comm, const Buffers& buffers, ReduceOp op,
                          const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, op), options);
}

Request ireduce_scatter_block(const Communicator& comm, const Buffers& buffers, ReduceOp op,
                              const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, op), options);
}

}  // namespace chorus::detail
