// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/gradient_accumulator.hpp>

#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/strategy.hpp>

#include <string>

namespace chorus::detail {

int local_replicas_here() noexcept { return get_strategy().layout().local_replicas; }

std::size_t local_replica_here(std::size_t known) {
  const ReplicaContext* const replica = get_replica_context();
  if (replica != nullptr && static_cast<std::size_t>(replica->local_replica()) < known) {
    return static_cast<std::size_t>(replica->local_replica());
  }
  throw Error(
      ErrorCode::wrong_context,
      "GradientAccumulator::add: called outside of the replicas of the strategy it was made for: make it in the "
      "strategy's scope, and call it in the function given to run");
}

void check_batches(int batches) {
  if (batches >= 1) return;
  get_strategy().extended().group().ahead(
      [&] { reject_accumulated(std::to_string(batches) + " batches: give 1 or more"); });
}

void reject_accumulated(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "GradientAccumulator: " + why);
}

}  // namespace chorus::detail
