// SPDX-License-Identifier: Apache-2.0
//
// thread_levels LEVEL: 50 allreduces after MPI_Init_thread at that level; at the highest in each of four threads, on
// communicators of their own.
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 50, threads = 4 };

static int rank, ranks;

static void* work(void* comm) {
  for (int turn = 0; turn < calls; ++turn) {
    long sum = 0;
    const long value = rank + turn;
    CHECK(MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, *(MPI_Comm*)comm) == MPI_SUCCESS);
    CHECK(sum == (long)ranks * (ranks - 1) / 2 + (long)ranks * turn);
  }
  return NULL;
}

static void work_in_threads(void) {
  pthread_t thread[threads];
  MPI_Comm comm[threads];
  for (int index = 0; index < threads; ++index) MPI_Comm_dup(MPI_COMM_WORLD, &comm[index]);
  for (int index = 0; index < threads; ++index) CHECK(pthread_create(&thread[index], NULL, work, &comm[index]) == 0);
  for (int index = 0; index < threads; ++index) pthread_join(thread[index], NULL);
  for (int index = 0; index < threads; ++index) MPI_Comm_free(&comm[index]);
}

int main(int argc, char** argv) {
  const char* const names[] = {"single", "funneled", "serialized", "multiple"};
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int level = -1, provided = 0;
  for (int index = 0; index < 4; ++index) {
    if (argc > 1 && strcmp(argv[1], names[index]) == 0) level = levels[index];
  }
  if (level < 0) return 2;
  MPI_Init_thread(&argc, &argv, level, &provided);
  CHECK(provided >= level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (level == MPI_THREAD_MULTIPLE) {
    work_in_threads();
  } else {
    MPI_Comm world = MPI_COMM_WORLD;
    work(&world);
  }
  if (rank == 0) printf("thread level %s: right\n", argv[1]);
  MPI_Finalize();
  return 0;
}
