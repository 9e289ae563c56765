// SPDX-License-Identifier: Apache-2.0
//
// Wants its errors returned, and prints the first. After some good calls the ranks disagree. Called with an argument it
// leaves MPI's default as it is, by which the first error ends the job.
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, length = 0, code = MPI_SUCCESS;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc == 1) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int in[2] = {1, 1};
  int out[2];
  for (int turn = 0; turn <= 20 && code == MPI_SUCCESS; ++turn) {
    code = MPI_Allreduce(in, out, turn < 20 ? 1 : 1 + rank, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  CHECK(code != MPI_SUCCESS);
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_string(code, text, &length);
  printf("rank %d: %s\n", rank, text);
  CHECK(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
  MPI_Finalize();
  return 0;
}
