// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/environment_variables.hpp>

#include <string>

namespace chorus {

/// Throws Error{invalid_environment} where MPI has given this process a world of its own (`ranks` is 1), but
/// `variables` show that a launcher has started several: each would work alone, and nobody would notice.
void check_launch(int ranks, const EnvironmentVariables& variables);

/// What to add to the start-up line of a program that runs alone, without a launcher, in a Slurm job for several
/// processes; empty elsewhere.
std::string launch_note(int ranks, const EnvironmentVariables& variables);

}  // namespace chorus
