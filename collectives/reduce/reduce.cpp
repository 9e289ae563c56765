// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, const Operation& operation, int root) {
  constexpr Collective collective = Collective::reduce;
  check_root(state, collective, root);
  check_op(state, collective, buffers.type, operation);
  const bool gets_result = state.rank() == root;
  if (gets_result) {
    check_counts(state, collective, buffers, buffers.in_count == buffers.out_count,
                 "give both the same length on the root");
    if (buffers.in != buffers.out) check_overlap(state, collective, buffers);
  }
  Arguments arguments = arguments_of(state, collective, buffers, buffers.in_count, operation, root);
  if (!gets_result) arguments.out = nullptr;
  return arguments;
}

}  // namespace

void reduce(const Communicator& comm, const Buffers& buffers, const Operation& operation, int root,
            const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, operation, root), options);
}

Request ireduce(const Communicator& comm, const Buffers& buffers, const Operation& operation, int root,
                const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, operation, root), options, operation.owner);
}

PersistentRequest reduce_init(const Communicator& comm, const Buffers& buffers, const Operation& operation, int root,
                              const CollectiveOptions& options) {
  return prepare(comm, checked(comm.state(), buffers, operation, root), options, operation.owner);
}

}  // namespace chorus::detail
