// SPDX-License-Identifier: Apache-2.0
#include <chorus/thread_communicators.hpp>

#include "transport/site.hpp"
#include "transport/threads.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <numeric>

namespace chorus {
namespace {

Settings settings_here() {
  try {
    Settings settings = Settings::of_this_process();
    if (!settings.tuning.text.empty()) settings.tuning.here = this_machine_as_site();
    return settings;
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("thread_communicators: {}", error.message()));
  }
}

/// The node of each rank, as the settings pretend.
std::vector<int> nodes_of(int ranks, const Settings& settings) {
  std::vector<int> nodes(static_cast<std::size_t>(ranks));
  std::iota(nodes.begin(), nodes.end(), 0);
  const int ranks_each = settings.shared_memory == SharedMemory::off ? 1
                         : settings.node_ranks > 0                   ? settings.node_ranks
                                                                     : ranks;
  for (int& node : nodes) node /= ranks_each;
  return nodes;
}

std::vector<Communicator> communicators(int ranks, const Settings& settings) {
  const bool shared = settings.shared_memory != SharedMemory::off;
  const ThreadWorld world({.ranks = ranks,
                           .nodes = nodes_of(ranks, settings),
                           .slot_bytes = shared ? settings.slot_bytes : 0,
                           .settings = settings});
  std::vector<Communicator> communicators;
  for (int rank = 0; rank < ranks; ++rank) communicators.push_back(world.communicator(rank));
  return communicators;
}

}  // namespace

std::vector<Communicator> thread_communicators(int ranks) {
  if (ranks < 1) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("thread_communicators: argument ranks is {}; ask for 1 or more, one for each thread", ranks));
  }
  return communicators(ranks, settings_here());
}

std::vector<Communicator> detail::replica_communicators(int replicas) {
  Settings settings = settings_here();
  settings.shared_memory = SharedMemory::automatic;
  settings.node_ranks = 0;
  return communicators(replicas, settings);
}

}  // namespace chorus
