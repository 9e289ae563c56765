// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table.hpp"

namespace chorus::bench {

// Each runs `call` once by `run`, on small whole numbers (their sum is exact in any order) and an output of NaN, and
// returns false where this rank's result is wrong. Called by all ranks.

[[nodiscard]] bool validate_bcast(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_reduce(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_allreduce(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_allgather(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_reduce_scatter_block(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_alltoall(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_gather(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_scatter(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_scan(const Call& call, const AnyRun& run);
[[nodiscard]] bool validate_exscan(const Call& call, const AnyRun& run);

/// Holds back one rank (the first, the middle, the last) by a few milliseconds, ten times each, and looks whether
/// another one leaves meanwhile. A barrier is never found wrong because the ranks are slow.
[[nodiscard]] bool validate_barrier(const Call& call, const AnyRun& run);

}  // namespace chorus::bench
