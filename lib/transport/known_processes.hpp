// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/process.hpp"

#include <map>
#include <optional>
#include <string>

namespace chorus {

// The processes of MPI_COMM_WORLD, once a communicator of all of them has been set up: to say who does not come to the
// set-up of another one, in which nobody has told yet who it is.

struct KnownProcess {
  std::string host;
  ProcessId process;
};

/// By their ranks in MPI_COMM_WORLD.
void remember_processes(std::map<int, KnownProcess> processes);
[[nodiscard]] std::optional<KnownProcess> known_process(int world_rank);

}  // namespace chorus
