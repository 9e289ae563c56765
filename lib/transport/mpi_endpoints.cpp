// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_endpoints.hpp"

#include "transport/mpi_peers.hpp"

#include <utility>

namespace chorus {

MpiRuntime& runtime_of_this_rank() {
  static auto* const runtime = new MpiRuntime;
  return *runtime;
}

std::unique_ptr<MpiTransport> make_mpi_transport(int rank, std::shared_ptr<MpiChannel> channel, std::vector<int> ranks,
                                                 MpiChannel::Number number) {
  return std::make_unique<MpiTransport>(rank, std::move(channel), std::move(ranks), number);
}

std::unique_ptr<detail::Peers> make_mpi_peers(MpiTransport& transport, MPI_Comm comm) {
  return std::make_unique<MpiPeers>(transport, comm);
}

}  // namespace chorus
