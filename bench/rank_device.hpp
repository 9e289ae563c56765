// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <chorus/communicator.hpp>

namespace chorus::bench {

/// What comes before anything is measured with `--memory device`: makes each rank's nearest GPU its thread's, and looks
/// whether what is compared with can be called. Called by all ranks.
/// Throws   Refusal on every rank where one has no device, or NCCL or the MPI library cannot be called.
void take_devices(const Options& options, const Communicator& world);

}  // namespace chorus::bench
