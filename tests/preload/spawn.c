// SPDX-License-Identifier: Apache-2.0
//
// Two ranks start another job of one, and work together with it.
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, between, all;
  int ranks = 0;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    for (int turn = 0; turn < 20; ++turn) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  } else {
    between = parent;
  }
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
  MPI_Comm_size(all, &ranks);
  CHECK(ranks == 3);
  for (int turn = 0; turn < 30; ++turn) {
    int sum = 0;
    MPI_Allreduce(&turn, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == 3 * turn);
  }
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  if (rank == 0) printf("spawn: right\n");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return 0;
}
