// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <chorus/communicator.hpp>

namespace chorus::bench {

/// Measures and reports what `options` ask for; rank 0 prints. Called by all ranks of `world`, all ranks of the job.
/// Returns whether all data was right.
/// Throws   Refusal on every rank, before anything is measured or where a named algorithm does not apply;
///          Error where a call failed, perhaps on some ranks only.
[[nodiscard]] bool run_benchmark(const Options& options, const Communicator& world);

}  // namespace chorus::bench
