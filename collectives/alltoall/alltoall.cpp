// SPDX-License-Identifier: Apache-2.0
#include <chorus/alltoall.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers) {
  constexpr Collective collective = Collective::alltoall;
  const auto ranks = static_cast<std::size_t>(state.size());
  const std::size_t count = buffers.out_count / ranks;
  check_counts(state, collective, buffers, buffers.in_count == count * ranks && buffers.out_count == count * ranks,
               "both hold one block for each rank, of the same length");
  if (buffers.in != buffers.out) check_overlap(state, collective, buffers);
  return arguments_of(state, collective, buffers, count);
}

}  // namespace

void alltoall(const Communicator& comm, const Buffers& buffers, const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers), options);
}

Request ialltoall(const Communicator& comm, const Buffers& buffers, const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers), options);
}

PersistentRequest alltoall_init(const Communicator& comm, const Buffers& buffers, const CollectiveOptions& options) {
  return prepare(comm, checked(comm.state(), buffers), options);
}

}  // namespace chorus::detail
