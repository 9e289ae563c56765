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

Strategy::~Strategy() { detail::leave_scope_of(*this); }

const std::string& Strategy::name() const noexcept { return extended_->name(); }

ReplicaLayout Strategy::layout() const noexcept { return extended_->group().layout(); }

int Strategy::num_replicas_in_sync() const noexcept { return layout().replicas(); }

const ClusterResolver* Strategy::cluster_resolver() const noexcept { return extended_->cluster_resolver(); }

ContextGuard Strategy::scope() {
  extended_->check_entry("Strategy::scope", "enter it before run, or in the function of a merge_call");
  StrategyContext entered = current_context();
  entered.scoped = true;
  if (!extended_->anywhere()) {
    entered.strategy = this;
    entered.cross_replica = true;
  }
  return ContextGuard(entered);
}

void Strategy::check_cross_replica(const char* function, const char* instead) const {
  extended_->check_entry(function, fmt::format("{} is for replicas", instead));
}

void Strategy::check_may_run() const {
  extended_->check_entry("Strategy::run", "replicas cannot run others");
  const StrategyContext& context = current_context();
  if (context.strategy != this || context.options == nullptr) return;
  throw Error(ErrorCode::wrong_context,
              "Strategy::run: called in the function of a merge_call, for which the replicas wait that it would run: "
              "make the call after the run that it is in, or do here what is done once for all replicas");
}

detail::InputWorkers Strategy::input_workers() const {
  const ReplicaLayout& layout = extended_->group().layout();
  if (layout.workers == 1) return {};
  const auto meet = [group = extended_->shared_group()](StrategyFunction function, const auto& body) {
    group->together([&] {
      group->announce({.function = function});
      body(*group->workers());
    });
  };
  return {layout.workers, layout.worker, meet, extended_->communication_options().timeout};
}

void Strategy::run_replicas(const RunOptions& options, const std::function<void(int)>& body,
                            const std::function<std::uint64_t()>& structure) {
  const CommunicationOptions merged =
      extended_->group().ahead([&] { return extended_->options_of_call(options.communication); });
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
  extended_->group().run(in_context, structure, merged.timeout);
}

}  // namespace chorus
