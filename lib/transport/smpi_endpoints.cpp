// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_endpoints.hpp"
#include "transport/smpi_peers.hpp"
#include "transport/smpi_transport.hpp"

#include <simgrid/s4u/Actor.hpp>

#include <map>
#include <utility>

namespace chorus {
namespace {

/// What ranks that are processes would have as static objects. All ranks run in one thread, by turns.
struct Rank {
  MpiRuntime* runtime = nullptr;
  SmpiMessages messages;
};

Rank& this_rank() {
  static auto* const ranks = new std::map<aid_t, Rank>;
  return (*ranks)[simgrid::s4u::this_actor::get_pid()];
}

}  // namespace

MpiRuntime& runtime_of_this_rank() {
  Rank& rank = this_rank();
  if (rank.runtime == nullptr) rank.runtime = new MpiRuntime;
  return *rank.runtime;
}

std::unique_ptr<MpiTransport> make_mpi_transport(int rank, std::shared_ptr<MpiChannel> channel, std::vector<int> ranks,
                                                 MpiChannel::Number number) {
  return std::make_unique<SmpiTransport>(rank, std::move(channel), std::move(ranks), number, this_rank().messages);
}

std::unique_ptr<detail::Peers> make_mpi_peers(MpiTransport& transport, MPI_Comm comm) {
  return std::make_unique<SmpiPeers>(dynamic_cast<SmpiTransport&>(transport), comm);
}

}  // namespace chorus
