// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/mpi_transport.hpp"

#include <mpi.h>

#include <memory>
#include <vector>

namespace chorus {

// What differs between an MPI whose ranks are processes and SMPI, which simulates them as coroutines of one process.
// One of two files has it: mpi_endpoints.cpp or smpi_endpoints.cpp.

/// The runtime of this rank. Made when it is first asked for, and never destroyed: MPI_Finalize shuts it down.
[[nodiscard]] MpiRuntime& runtime_of_this_rank();

[[nodiscard]] std::unique_ptr<MpiTransport> make_mpi_transport(int rank, std::shared_ptr<MpiChannel> channel,
                                                               std::vector<int> ranks, MpiChannel::Number number);
/// `transport` is from make_mpi_transport; see MpiPeers.
[[nodiscard]] std::unique_ptr<detail::Peers> make_mpi_peers(MpiTransport& transport, MPI_Comm comm);

}  // namespace chorus
