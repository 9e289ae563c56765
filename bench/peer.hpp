// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace chorus::bench {

/// Whose own collectives are measured in turn with chorus's.
enum class Peer { mpi, nccl };

/// As headings call it.
[[nodiscard]] constexpr std::string_view name_of(Peer peer) noexcept { return peer == Peer::mpi ? "MPI" : "NCCL"; }

}  // namespace chorus::bench
