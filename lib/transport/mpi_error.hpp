// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <chorus/error.hpp>

#include <string>

namespace chorus {

/// Throws Error{transport} with MPI's own words unless `code` is MPI_SUCCESS.
inline void check_mpi(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  throw Error(ErrorCode::transport, fmt::format("{} failed: {}", function, text));
}

}  // namespace chorus
