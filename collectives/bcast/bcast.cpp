// SPDX-License-Identifier: Apache-2.0
#include <chorus/bcast.hpp>

#include "door.hpp"

namespace chorus::detail {
namespace {

Arguments checked(const CommunicatorState& state, const Buffers& buffers, int root) {
  check_root(state, Collective::bcast, root);
  return arguments_of(state, Collective::bcast, buffers, buffers.in_count, root);
}

}  // namespace

void bcast(const Communicator& comm, const Buffers& buffers, int root, const CollectiveOptions& options) {
  complete(comm.state(), checked(comm.state(), buffers, root), options);
}

Request ibcast(const Communicator& comm, const Buffers& buffers, int root, const CollectiveOptions& options) {
  return start(comm, checked(comm.state(), buffers, root), options);
}

PersistentRequest bcast_init(const Communicator& comm, const Buffers& buffers, int root,
                             const CollectiveOptions& options) {
  return prepare(comm, checked(comm.state(), buffers, root), options);
}

}  // namespace chorus::detail
