// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "outputs.hpp"

#include <chorus/communicator.hpp>

namespace chorus::bench {

/// Measures what the node does at best, and each collective beside the least time that this allows. Called by all ranks
/// of `world`. Throws   as `run_benchmark`; Refusal where there are not two ranks or more that share memory.
void run_floor(const Options& options, const Communicator& world, Outputs& outputs);

}  // namespace chorus::bench
