// SPDX-License-Identifier: Apache-2.0
#include <chorus/scan.hpp>

#include "prefix_checked.hpp"

namespace chorus::detail {

void scan(const Communicator& comm, const Buffers& buffers, ReduceOp op, const CollectiveOptions& options) {
  complete(comm.state(), prefix_arguments(comm.state(), Collective::scan, buffers, op), options);
}

Request iscan(const Communicator& comm, const Buffers& buffers, ReduceOp op, const CollectiveOptions& options) {
  return start(comm, prefix_arguments(comm.state(), Collective::scan, buffers, op), options);
}

}  // namespace chorus::detail
