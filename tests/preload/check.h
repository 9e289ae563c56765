// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <stdio.h>

/// Ends the job where `condition` is not so.
#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: this is not so: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                 \
    }                                                                               \
  } while (0)
