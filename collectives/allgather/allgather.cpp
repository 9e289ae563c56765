// SPDX-License-Identifier: Apache-2.0
#include <chorus/allgather.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers) {
  constexpr Collective collective = Collective::allgather;
  const auto ranks = static_cast<std::size_t>(state.size());
  const bool in_place = is_in_place(buffers);
  const std::size_t count = in_place ? buffers.out_count / ranks : buffers.in_count;
  check_counts(state, collective, buffers, buffers.out_count == count * ranks,
               "out holds one block for each rank, of the same length");
  if (!in_place) check_overlap(state, collective, buffers);
  return arguments_of(state, collective, buffers, count);
}

}  // namespace

void allgather(const Communicator& comm, const Buffers& buffers, const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers), options);
}

Request iallgather(const Communicator& comm, const Buffers& buffers, const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers), options);
}

PersistentRequest allgather_init(const Communicator& comm, const Buffers& buffers, const CollectiveOptions& options) {
  return prepare(comm, checked(comm.state(), buffers), options);
}

}  // namespace chorus::detail
