// SPDX-License-Identifier: Apache-2.0
#include <chorus/scan.hpp>

#include "prefix_checked.hpp"

namespace chorus::detail {

void scan(const Communicator& comm, const Buffers& buffers, const Operation& operation,
          const CollectiveOptions& options) {
  complete(comm.state(), prefix_arguments(comm.state(), Collective::scan, buffers, operation), options);
}

Request iscan(const Communicator& comm, const Buffers& buffers, const Operation& operation,
              const CollectiveOptions& options) {
  return start(comm, prefix_arguments(comm.state(), Collective::scan, buffers, operation), options, operation.owner);
}

PersistentRequest scan_init(const Communicator& comm, const Buffers& buffers, const Operation& operation,
                            const CollectiveOptions& options) {
  return prepare(comm, prefix_arguments(comm.state(), Collective::scan, buffers, operation), options, operation.owner);
}

}  // namespace chorus::detail
