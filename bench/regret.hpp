// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "outputs.hpp"

#include <chorus/communicator.hpp>

namespace chorus::bench {

/// Measures every algorithm that applies, of each collective and size, beside each other, and reports how much slower
/// the one that the library chooses is than the best. Called by all ranks of `world`.
/// Throws   as `run_benchmark`.
void run_regret(const Options& options, const Communicator& world, Outputs& outputs);

}  // namespace chorus::bench
