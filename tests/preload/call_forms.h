// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#if defined(PERSISTENT) && MPI_VERSION < 4
#include <mpi-ext.h>
#endif

// Gives the collectives of a program the form that it is compiled for: with large counts, nonblocking or persistent,
// which are then waited for at once. Without such a wish they stay as they are.

#ifdef LARGE_COUNTS
typedef MPI_Count count_type;
typedef MPI_Aint displacement_type;
#define FORM(Name, name, ...) MPI_##Name##_c(__VA_ARGS__)
#else
typedef int count_type;
typedef int displacement_type;
#endif

#ifdef NONBLOCKING
#define FORM(Name, name, ...) completed(MPI_I##name(__VA_ARGS__, &under_way))
#elif defined(PERSISTENT) && MPI_VERSION >= 4
#define FORM(Name, name, ...) completed(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &under_way))
#elif defined(PERSISTENT)
#define FORM(Name, name, ...) completed(MPIX_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &under_way))
#endif

#if defined(NONBLOCKING) || defined(PERSISTENT)
static MPI_Request under_way;

static inline int completed(int code) {
#ifdef PERSISTENT
  if (code == MPI_SUCCESS) code = MPI_Start(&under_way);
#endif
  if (code == MPI_SUCCESS) code = MPI_Wait(&under_way, MPI_STATUS_IGNORE);
#ifdef PERSISTENT
  if (code == MPI_SUCCESS) code = MPI_Request_free(&under_way);
#endif
  return code;
}

#define MPI_Barrier(...) FORM(Barrier, barrier, __VA_ARGS__)
#endif

#ifdef FORM
#define MPI_Allgather(...) FORM(Allgather, allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) FORM(Allgatherv, allgatherv, __VA_ARGS__)
#define MPI_Allreduce(...) FORM(Allreduce, allreduce, __VA_ARGS__)
#define MPI_Alltoall(...) FORM(Alltoall, alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) FORM(Alltoallv, alltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) FORM(Alltoallw, alltoallw, __VA_ARGS__)
#define MPI_Bcast(...) FORM(Bcast, bcast, __VA_ARGS__)
#define MPI_Exscan(...) FORM(Exscan, exscan, __VA_ARGS__)
#define MPI_Gather(...) FORM(Gather, gather, __VA_ARGS__)
#define MPI_Gatherv(...) FORM(Gatherv, gatherv, __VA_ARGS__)
#define MPI_Reduce(...) FORM(Reduce, reduce, __VA_ARGS__)
#define MPI_Reduce_scatter(...) FORM(Reduce_scatter, reduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) FORM(Reduce_scatter_block, reduce_scatter_block, __VA_ARGS__)
#define MPI_Scan(...) FORM(Scan, scan, __VA_ARGS__)
#define MPI_Scatter(...) FORM(Scatter, scatter, __VA_ARGS__)
#define MPI_Scatterv(...) FORM(Scatterv, scatterv, __VA_ARGS__)
#endif
