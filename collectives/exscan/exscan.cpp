// SPDX-License-Identifier: Apache-2.0
#include <chorus/exscan.hpp>

#include "prefix_checked.hpp"

namespace chorus::detail {

void exscan(const Communicator& comm, const Buffers& buffers, ReduceOp op, const CollectiveOptions& options) {
  complete(comm.state(), prefix_arguments(comm.state(), Collective::exscan, buffers, op), options);
}

Request iexscan(const Communicator& comm, const Buffers& buffers, ReduceOp op, const CollectiveOptions& options) {
  return start(comm, prefix_arguments(comm.state(), Collective::exscan, buffers, op), options);
}

}  // namespace chorus::detail
