// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cstdint>

namespace chorus::bench {

std::size_t memory_per_rank() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 0;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);

  auto share = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) /
               static_cast<std::uint64_t>(ranks);
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  return share;
}

}  // namespace chorus::bench
