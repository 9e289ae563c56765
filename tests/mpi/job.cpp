// SPDX-License-Identifier: Apache-2.0
#include "mpi/job.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>

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

void meet_job() {
  using namespace std::chrono_literals;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) std::this_thread::sleep_for(100us);
}

void begin_the_time_again() { alarm(longest_test_s); }

OwnedComm::OwnedComm(int color, int key) { MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm_); }

OwnedComm::~OwnedComm() { MPI_Comm_free(&comm_); }

}  // namespace chorus::test
