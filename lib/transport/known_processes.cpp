// SPDX-License-Identifier: Apache-2.0
#include "transport/known_processes.hpp"

#include <mutex>
#include <utility>

namespace chorus {
namespace {

struct Known {
  std::mutex mutex;
  std::map<int, KnownProcess> processes;
};

Known& known() {
  static auto* const all = new Known;  // never destroyed: communicators may outlive static objects
  return *all;
}

}  // namespace

void remember_processes(std::map<int, KnownProcess> processes) {
  const std::scoped_lock lock(known().mutex);
  known().processes = std::move(processes);
}

std::optional<KnownProcess> known_process(int world_rank) {
  const std::scoped_lock lock(known().mutex);
  const auto found = known().processes.find(world_rank);
  return found != known().processes.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace chorus
