// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, ReduceOp op, int root) {
  constexpr Collective collective = Collective::reduce;
  check_root(state, collective, root);
  check_op(state, collective, buffers.type, op);
  const bool gets_result = state.rank() == root;
  if (gets_result) {
    check_counts(state, collective, buffers, buffers.in_count == buffers.out_count,
                 "give both the same length on the root");
    if (buffers.in != buffers.out) check_overlap(state, collective, buffers);
  }
  return {.call = {.collective = collective, .type = buffers.type, .op = op, .root = root, .count = buffers.in_count},
          .in = static_cast<const std::byte*>(buffers.in),
          .out = gets_result ? static_cast<std::byte*>(buffers.out) : nullptr};
}

}  // namespace

void reduce(const Communicator& comm, const Buffers& buffers, ReduceOp op, int root, const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, op, root), options);
}

Request ireduce(const Communicator& comm, const Buffers& buffers, ReduceOp op, int root,
                const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, op, root), options);
}

}  // namespace chorus::detail
