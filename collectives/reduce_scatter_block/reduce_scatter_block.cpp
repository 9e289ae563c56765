// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce_scatter_block.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, const Operation& operation) {
  constexpr Collective collective = Collective::reduce_scatter_block;
  check_op(state, collective, buffers.type, operation);
  const auto ranks = static_cast<std::size_t>(state.size());
  const bool in_place = is_in_place(buffers);
  const std::size_t count = in_place ? buffers.in_count / ranks : buffers.out_count;
  check_counts(state, collective, buffers, buffers.in_count == count * ranks,
               "in holds one block for each rank, of the same length");
  if (!in_place) check_overlap(state, collective, buffers);
  return arguments_of(state, collective, buffers, count, operation);
}

}  // namespace

void reduce_scatter_block(const Communicator& comm, const Buffers& buffers, const Operation& operation,
                          const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, operation), options);
}

Request ireduce_scatter_block(const Communicator& comm, const Buffers& buffers, const Operation& operation,
                              const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, operation), options, operation.owner);
}

PersistentRequest reduce_scatter_block_init(const Communicator& comm, const Buffers& buffers,
                                            const Operation& operation, const CollectiveOptions& options) {
  return prepare(comm, checked(comm.state(), buffers, operation), options, operation.owner);
}

}  // namespace chorus::detail
