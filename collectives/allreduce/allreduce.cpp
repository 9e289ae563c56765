// SPDX-License-Identifier: Apache-2.0
#include <chorus/allreduce.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, ReduceOp op) {
  constexpr Collective collective = Collective::allreduce;
  check_op(state, collective, buffers.type, op);
  check_counts(state, collective, buffers, buffers.in_count == buffers.out_count, "give both the same length");
  if (buffers.in != buffers.out) check_overlap(state, collective, buffers);
  return {.call = {.collective = collective, .type = buffers.type, .op = op, .count = buffers.in_count},
          .in = static_cast<const std::byte*>(buffers.in),
          .out = static_cast<std::byte*>(buffers.out)};
}

}  // namespace

void allreduce(const Communicator& comm, const Buffers& buffers, ReduceOp op, const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, op), options);
}

Request iallreduce(const Communicator& comm, const Buffers& buffers, ReduceOp op, const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, op), options);
}

}  // namespace chorus::detail
