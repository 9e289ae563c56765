// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/strategy.hpp>

#include <chorus/error.hpp>
#include <chorus/strategies/extended.hpp>

#include <fmt/format.h>

#include <utility>

namespace chorus {

Strategy::Strategy(std::unique_ptr<StrategyExtended> extended) noexcept : extended_(std::move(extended)) {
  extended_->strategy_ = this;
}

Strategy::~Strategy() = default;

const std::string& Strategy::name() const noexcept { return extended_->name(); }

ReplicaLayout Strategy::layout() const noexcept { return extended_->group().layout(); }

int Strategy::num_replicas_in_sync() const noexcept { return layout().replicas(); }

const ClusterResolver* Strategy::cluster_resolver() const noexcept { return extended_->cluster_resolver(); }

namespace {

/// Throws where `strategy` cannot be used in the context of this thread.
void check_entry(const Strategy& strategy, const char* function, const std::string& instead) {
  const StrategyContext& context = current_context();
  if (context.replica != nullptr) {
    throw Error(ErrorCode::wrong_context,
                fmt::format("{}: called in a replica of the {} strategy, but needs the cross-replica context: {}",
                            function, context.replica->strategy().name(), instead));
  }
  const Strategy& current = get_strategy();
  const bool outside = context.strategy == nullptr && !context.scoped;
  if (&current == &strategy || outside) return;
  throw Error(
      ErrorCode::wrong_context,
      fmt::format("{}: mixing different strategy objects: the {} strategy is used in the scope of a {} strategy; "
                  "leave that scope first",
                  function, strategy.name(), current.name()));
}

}  // namespace

ContextGuard Strategy::scope() {
  check_entry(*this, "Strategy::scope", "enter it before run, or in the function of a merge_call");
  StrategyContext entered = current_context();
  entered.scoped = true;
  if (!extended_->anywhere()) {
    entered.strategy = this;
    entered.cross_replica = true;
  }
  return ContextGuard(entered);
}

void Strategy::check_cross_replica(const char* function, const char* instead) const {
  check_entry(*this, function, fmt::format("{} is for replicas", instead));
}

std::optional<Communicator> Strategy::input_workers() const {
  ReplicaGroup& group = extended_->group();
  return group.together([&] {
    group.announce({.function = StrategyFunction::distribute_dataset});
    const Communicator* const workers = group.workers();
    return workers != nullptr ? std::optional(workers->dup()) : std::nullopt;
  });
}

void Strategy::run_replicas(const RunOptions& options, const std::function<void(int)>& body,
                            const std::function<std::uint64_t()>& structure) {
  check_entry(*this, "Strategy::run", "replicas cannot run others");
  if (extended_->anywhere()) {
    body(0);
    if (structure) structure();
    return;
  }
  const auto in_context = [&](int local_replica) {
    ReplicaContext replica(*this, local_replica);
    const ContextGuard guard(
        {.strategy = this, .replica = &replica, .scoped = true, .options = &options.communication});
    body(local_replica);
    replica.check_waited();
  };
  const CommunicationOptions merged = extended_->communication_options().merge(options.communication);
  extended_->group().run(in_context, structure, merged.timeout);
}

}  // namespace chorus
