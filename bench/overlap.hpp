// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "outputs.hpp"

#include <chorus/communicator.hpp>

namespace chorus::bench {

/// Measures the nonblocking and the persistent form of each collective beside the blocking one, and how much of the
/// nonblocking one is hidden behind a computation of its length. Called by all ranks of `world`.
/// Throws   as `run_benchmark`.
void run_overlap(const Options& options, const Communicator& world, Outputs& outputs);

}  // namespace chorus::bench
