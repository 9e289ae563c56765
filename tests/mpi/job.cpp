// SPDX-License-Identifier: Apache-2.0
#include "mpi/job.hpp"

#include <unistd.h>

namespace chorus::test {

int job_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int job_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void begin_the_time_again() { alarm(longest_test_s); }

OwnedComm::OwnedComm(int color, int key) { MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm_); }

OwnedComm::~OwnedComm() { MPI_Comm_free(&comm_); }

}  // namespace chorus::test
