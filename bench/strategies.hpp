// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <chorus/communicator.hpp>

namespace chorus::bench {

/// Measures what the strategies add to threads and collectives, and what packs of gradients gain, and prints it; false
/// where a result was wrong. Called by all ranks.
[[nodiscard]] bool run_strategies(const Options& options, const Communicator& world);

}  // namespace chorus::bench
