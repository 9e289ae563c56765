// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <cstdint>

namespace chorus::preload {

/// Who carries out an intercepted call: chorus, or MPI and why.
enum class Path : std::uint8_t {
  chorus,
  faster,
  few_calls,
  one_rank,
  intercommunicator,
  several_jobs,
  settings,
  data_type,
  length,
  arguments,
  nonblocking,
  persistent,
};
inline constexpr int path_count = 12;

/// What is decided about a call from its arguments: the same on all ranks, but for wrong arguments.
struct Offer {
  Path path = Path::chorus;
  Call call;  ///< as chorus would carry it out; its count is 0 where that is not known
  /// The same arguments get the same offer again: their handles are MPI's own, never freed, and no array is among them,
  /// which may hold something else.
  bool lasting = false;
};

}  // namespace chorus::preload
