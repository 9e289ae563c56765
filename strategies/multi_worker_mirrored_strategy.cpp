// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>

#include "resolvers/agreement.hpp"
#include "usable_parts.hpp"

#include <chorus/barrier.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/mpi_cluster_resolver.hpp>
#include <chorus/strategies/strategy_call.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
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

/// Chooses a device where `setup` names none. Throws where this rank cannot work with what it has.
void complete(MultiWorkerMirroredStrategy::Setup& setup) {
  if (setup.devices.empty()) setup.devices = {local_devices().front()};
  check_usable(setup.communication_options);
  check_named_once(strategy_name, setup.devices);
  check_may_run_on(setup.devices);
}

/// The start-up line, once no rank objects to its `setup`, which is completed: where one does, it throws why, and the
/// others are told.
std::string agreed_line(const Communicator& ranks, MultiWorkerMirroredStrategy::Setup& setup) {
  std::optional<Error> objection;
  try {
    complete(setup);
  } catch (const Error& error) {
    objection = error;
  }
  RankReport mine = report_of(*setup.cluster_resolver, static_cast<int>(setup.devices.size()));
  if (objection) mine.object(objection->message());
  try {
    return agreed_startup_line({strategy_name, "MultiWorkerMirroredStrategy"}, *setup.cluster_resolver, ranks, mine);
  } catch (const Error&) {
    if (objection) throw Error(*objection);
    throw;
  }
}

StrategyParts parts_of(const Communicator& ranks, MultiWorkerMirroredStrategy::Setup setup) {
  meet(ranks, setup.communication_options);
  const bool as_ranks = !setup.cluster_resolver;
  if (as_ranks) setup.cluster_resolver = std::make_shared<MpiClusterResolver>(ranks);
  const std::string line = agreed_line(ranks, setup);
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
