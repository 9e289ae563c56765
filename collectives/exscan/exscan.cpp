// SPDX-License-Identifier: Apache-2.0
#include <chorus/exscan.hpp>

#include "prefix_checked.hpp"

namespace chorus::detail {

void exscan(const Communicator& comm, const Buffers& buffers, const Operation& operation,
            const CollectiveOptions& options) {
  complete(comm.state(), prefix_arguments(comm.state(), Collective::exscan, buffers, operation), options);
}

Request iexscan(const Communicator& comm, const Buffers& buffers, const Operation& operation,
                const CollectiveOptions& options) {
  return start(comm, prefix_arguments(comm.state(), Collective::exscan, buffers, operation), options, operation.owner);
}

PersistentRequest exscan_init(const Communicator& comm, const Buffers& buffers, const Operation& operation,
                              const CollectiveOptions& options) {
  return prepare(comm, prefix_arguments(comm.state(), Collective::exscan, buffers, operation), options,
                 operation.owner);
}

}  // namespace chorus::detail
