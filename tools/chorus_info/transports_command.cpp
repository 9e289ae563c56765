// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "transport/communicator_state.hpp"
#include "transport/registered_memory.hpp"

#include <chorus/barrier.hpp>

#include <fmt/format.h>

namespace chorus::info {

Action add_transports(CLI::App& command) {
  command.footer("Under mpirun it tells how the ranks of the job reach each other, and what was tried.");
  return [](const Communicator& world) {
    barrier(world);
    if (world.rank() != 0) return;
    for (const std::string& note : world.state().notes()) fmt::print("{}\n", note);
    fmt::print("{}\n", describe_registered_memory());
  };
}

}  // namespace chorus::info
