// SPDX-License-Identifier: Apache-2.0
//
// A tool as they are: counts what the program calls, and says so at the end.
#include <mpi.h>
#if MPI_VERSION < 4
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define PMPI_Allreduce_init PMPIX_Allreduce_init
#endif

#include <stdio.h>

static int allreduces, nonblocking, persistent, messages;

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  ++nonblocking;
  return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

int MPI_Allreduce_init(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request) {
  ++persistent;
  return PMPI_Allreduce_init(in, out, count, type, op, comm, info, request);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  ++messages;
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    fprintf(stderr, "profiler: %d allreduces, %d nonblocking, %d persistent, %d messages\n", allreduces, nonblocking,
            persistent, messages);
  }
  return PMPI_Finalize();
}
