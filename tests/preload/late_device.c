// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of chorus, and loads CUDA's driver late: then it gives MPI memory of a GPU, with all other
// arguments as in the calls before.
#include "check.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef unsigned long long address;

static void* driver;

// Calls a function of the driver, whose parameters have the types that are named.
#define DRIVER(name, types, ...) CHECK(((int(*) types)dlsym(driver, #name))(__VA_ARGS__) == 0)

static address on_device(int value) {
  address place = 0;
  DRIVER(cuMemAlloc_v2, (address*, size_t), &place, sizeof value);
  DRIVER(cuMemcpy, (address, address, size_t), place, (uintptr_t)&value, sizeof value);
  return place;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int call = 0; call < 50; ++call) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  driver = dlopen(getenv("CHORUS_CUDA_LIBRARY"), RTLD_NOW);
  CHECK(driver != NULL);
  void* context = NULL;
  DRIVER(cuInit, (unsigned), 0);
  DRIVER(cuDevicePrimaryCtxRetain, (void**, int), &context, 0);
  DRIVER(cuCtxSetCurrent, (void*), context);
  const address in = on_device(rank), out = on_device(0);
  MPI_Allreduce((void*)in, (void*)out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  sum = 0;
  DRIVER(cuMemcpy, (address, address, size_t), (uintptr_t)&sum, out, sizeof sum);
  CHECK(sum == ranks * (ranks - 1) / 2);
  if (rank == 0) printf("late device: right on %d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
