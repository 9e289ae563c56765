// SPDX-License-Identifier: Apache-2.0
#include <chorus/allreduce.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, const Operation& operation) {
  constexpr Collective collective = Collective::allreduce;
  check_op(state, collective, buffers.type, operation);
  check_counts(state, collective, buffers, buffers.in_count == buffers.out_count, "give both the same length");
  if (buffers.in != buffers.out) check_overlap(state, collective, buffers);
  return arguments_of(state, collective, buffers, buffers.in_count, operation);
}

}  // namespace

void allreduce(const Communicator& comm, const Buffers& buffers, const Operation& operation,
               const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, operation), options);
}

Request iallreduce(const Communicator& comm, const Buffers& buffers, const Operation& operation,
                   const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, operation), options, operation.owner);
}

PersistentRequest allreduce_init(const Communicator& comm, const Buffers& buffers, const Operation& operation,
                                 const CollectiveOptions& options) {
  return prepare(comm, checked(comm.state(), buffers, operation), options, operation.owner);
}

}  // namespace chorus::detail
