// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>

#include "usable_devices.hpp"

#include <chorus/barrier.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/mpi_cluster_resolver.hpp>
#include <chorus/strategies/startup_line.hpp>
#include <chorus/strategies/strategy_call.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace chorus {
namespace {

constexpr const char* strategy_name = "multi-worker mirrored";

/// Waits until all ranks are here, no longer than the options say. What follows has no limit, and needs none: its ranks
/// get to its end, or throw together.
void meet(const Communicator& ranks, const CommunicationOptions& options) {
  const CallPurpose before = ranks.purpose();
  ranks.set_purpose(StrategyCall{.function = StrategyFunction::make_strategy}.purpose());
  barrier(ranks, {.timeout = std::max(options.timeout, std::chrono::nanoseconds{})});
  ranks.set_purpose(before);
}

StrategyParts parts_of(const Communicator& ranks, MultiWorkerMirroredStrategy::Setup setup) {
  if (setup.devices.empty()) setup.devices = {local_devices().front()};
  setup.devices = usable(setup.devices);
  meet(ranks, setup.communication_options);
  const bool as_ranks = !setup.cluster_resolver;
  if (as_ranks) setup.cluster_resolver = std::make_shared<MpiClusterResolver>(ranks);
  const std::string line =
      startup_line(strategy_name, *setup.cluster_resolver, ranks, static_cast<int>(setup.devices.size()));
  const Communicator workers = as_ranks ? ranks : *ranks.split(0, id_in_cluster(*setup.cluster_resolver));
  if (workers.rank() == 0) fmt::print(stderr, "{}\n", line);
  return {.name = strategy_name,
          .worker_devices = std::move(setup.devices),
          .workers = workers,
          .cross_device_ops = std::move(setup.cross_device_ops),
          .communication_options = setup.communication_options,
          .cluster_resolver = std::move(setup.cluster_resolver)};
}

}  // namespace

MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(const Communicator& workers, Setup setup)
    : Strategy(std::make_unique<StrategyExtended>(parts_of(workers, std::move(setup)))) {}

MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(const Communicator& workers)
    : MultiWorkerMirroredStrategy(workers, Setup{}) {}

}  // namespace chorus
