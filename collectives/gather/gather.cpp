// SPDX-License-Identifier: Apache-2.0
#include <chorus/gather.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, int root) {
  constexpr Collective collective = Collective::gather;
  check_root(state, collective, root);
  const auto ranks = static_cast<std::size_t>(state.size());
  const bool is_root = state.rank() == root;
  const bool in_place = is_in_place(buffers);
  const std::size_t count = is_root && in_place ? buffers.out_count / ranks : buffers.in_count;
  if (is_root) {
    check_counts(state, collective, buffers, buffers.out_count == count * ranks,
                 "on the root out holds one block for each rank, of the same length");
    if (!in_place) check_overlap(state, collective, buffers);
  }
  Arguments arguments = arguments_of(state, collective, buffers, count, root);
  if (!is_root) arguments.out = nullptr;
  return arguments;
}

}  // namespace

void gather(const Communicator& comm, const Buffers& buffers, int root, const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, root), options);
}

Request igather(const Communicator& comm, const Buffers& buffers, int root, const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, root), options);
}

PersistentRequest gather_init(const Communicator& comm, const Buffers& buffers, int root,
                              const CollectiveOptions& options) {
  return prepare(comm, checked(comm.state(), buffers, root), options);
}

}  // namespace chorus::detail
