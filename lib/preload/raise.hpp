// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <exception>

namespace chorus::preload {

/// Calls the error handler of `comm` with what `exception` says, and returns its code as MPI functions do: one of its
/// own for each kind of error, whose text MPI_Error_string gives.
int raise(MPI_Comm comm, const std::exception_ptr& exception);

}  // namespace chorus::preload
