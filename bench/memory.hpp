// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace chorus::bench {

/// Bytes of main memory for each rank of the job, shared out evenly on each node: those of the node where they are
/// least. Called by all ranks.
[[nodiscard]] std::size_t memory_per_rank();

}  // namespace chorus::bench
