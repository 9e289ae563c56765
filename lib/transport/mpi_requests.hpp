// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

namespace chorus {

static_assert(sizeof(MPI_Request) <= sizeof(std::uint64_t));

/// A request as Exchange::Tickets has it.
[[nodiscard]] inline std::uint64_t ticket_of(MPI_Request request) noexcept {
  std::uint64_t ticket = 0;
  std::memcpy(&ticket, &request, sizeof request);
  return ticket;
}

[[nodiscard]] inline MPI_Request request_of(std::uint64_t ticket) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  std::memcpy(&request, &ticket, sizeof request);
  return request;
}

/// True where a message was longer than its buffer.
[[nodiscard]] inline bool is_truncation(int code) noexcept {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class == MPI_ERR_TRUNCATE;
}

/// Takes a receive back: at once, unless its message has begun to come from a rank that will not finish it.
inline void cancel_receive(MPI_Request& receive) noexcept {
  constexpr int longest = 100'000;  // polls, some milliseconds
  MPI_Cancel(&receive);
  int done = 0;
  for (int tries = 0; done == 0 && tries < longest; ++tries) {
    if (MPI_Test(&receive, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
  }
}

}  // namespace chorus
