// SPDX-License-Identifier: Apache-2.0
#pragma once

// All that declares functions of MPI. Open MPI 4 has the persistent collectives as extensions.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
