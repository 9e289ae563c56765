// SPDX-License-Identifier: Apache-2.0
#include <chorus/barrier.hpp>

#include "door.hpp"

namespace chorus {

void barrier(const Communicator& comm, const CollectiveOptions& options) {
  complete(comm.state(), {.call = {.collective = Collective::barrier}}, options);
}

Request ibarrier(const Communicator& comm, const CollectiveOptions& options) {
  return start(comm, {.call = {.collective = Collective::barrier}}, options);
}

PersistentRequest barrier_init(const Communicator& comm, const CollectiveOptions& options) {
  return prepare(comm, {.call = {.collective = Collective::barrier}}, options);
}

}  // namespace chorus
