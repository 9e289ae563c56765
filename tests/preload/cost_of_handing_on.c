// SPDX-License-Identifier: Apache-2.0
//
// Prints how many nanoseconds a call takes longer with libchorus-mpi.so before MPI, which carries it out in both cases:
// the difference of the medians of many short blocks of calls, those through the library and those to MPI itself by
// turns. The calls of several ranks have no elements, so that they do not wait for each other.
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

enum { blocks = 2001, calls_in_block = 200 };

typedef int (*bcast_function)(void*, int, MPI_Datatype, int, MPI_Comm);
typedef int (*allreduce_function)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int (*ibarrier_function)(MPI_Comm, MPI_Request*);

struct functions {
  bcast_function bcast;
  allreduce_function allreduce;
  ibarrier_function ibarrier;
};

struct arguments {
  MPI_Comm comm;
  MPI_Datatype type;
  int count;
};

typedef void (*work)(const struct functions* functions, const struct arguments* arguments);

static int in[2], out[2];

static void bcast(const struct functions* functions, const struct arguments* a) {
  functions->bcast(in, a->count, a->type, 0, a->comm);
}
static void allreduce(const struct functions* functions, const struct arguments* a) {
  functions->allreduce(in, out, a->count, a->type, MPI_SUM, a->comm);
}
static void ibarrier(const struct functions* functions, const struct arguments* a) {
  MPI_Request request;
  functions->ibarrier(a->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double nanoseconds(work call, const struct functions* functions, const struct arguments* arguments) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int index = 0; index < calls_in_block; ++index) call(functions, arguments);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / calls_in_block;
}

static int by_size(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double median(double* values) {
  qsort(values, blocks, sizeof *values, by_size);
  return values[blocks / 2];
}

static void compare(const char* name, work call, const struct functions* mpi, struct arguments arguments) {
  static double with[blocks], without[blocks];
  const struct functions own = {MPI_Bcast, MPI_Allreduce, MPI_Ibarrier};
  for (int block = 0; block < blocks; ++block) {
    with[block] = nanoseconds(call, &own, &arguments);
    without[block] = nanoseconds(call, mpi, &arguments);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double alone = median(without);
  if (rank == 0) printf("%-44s %8.1f ns, of MPI alone %8.1f ns\n", name, median(with) - alone, alone);
}

// The MPI library's own, which no library before it hides.
static struct functions of_mpi(void) {
  Dl_info info;
  CHECK(dladdr((void*)MPI_Get_version, &info) != 0);
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  CHECK(library != NULL);
  struct functions functions;
  *(void**)&functions.bcast = dlsym(library, "PMPI_Bcast");
  *(void**)&functions.allreduce = dlsym(library, "PMPI_Allreduce");
  *(void**)&functions.ibarrier = dlsym(library, "PMPI_Ibarrier");
  CHECK(functions.bcast != NULL && functions.allreduce != NULL && functions.ibarrier != NULL);
  return functions;
}

int main(int argc, char** argv) {
  setenv("CHORUS_BCAST", "native", 1);  // as if it were found to be faster
  setenv("CHORUS_ALLREDUCE", "native", 1);
  MPI_Init(&argc, &argv);
  const struct functions mpi = of_mpi();
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int turn = 0; turn < 20; ++turn) MPI_Barrier(MPI_COMM_WORLD);  // chorus leaves the first calls to MPI
  compare("bcast, one rank", bcast, &mpi, (struct arguments){MPI_COMM_SELF, MPI_INT, 2});
  compare("bcast, one rank, a type of the program", bcast, &mpi, (struct arguments){MPI_COMM_SELF, pair, 1});
  compare("bcast, MPI is faster", bcast, &mpi, (struct arguments){MPI_COMM_WORLD, MPI_INT, 0});
  compare("bcast, MPI is faster, a type of the program", bcast, &mpi, (struct arguments){MPI_COMM_WORLD, pair, 0});
  compare("allreduce, one rank", allreduce, &mpi, (struct arguments){MPI_COMM_SELF, MPI_INT, 2});
  compare("allreduce, MPI is faster", allreduce, &mpi, (struct arguments){MPI_COMM_WORLD, MPI_INT, 0});
  compare("ibarrier, one rank", ibarrier, &mpi, (struct arguments){MPI_COMM_SELF, MPI_INT, 0});
  MPI_Type_free(&pair);
  MPI_Finalize();
  return 0;
}
