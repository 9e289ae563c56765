// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/context.hpp>

#include <chorus/error.hpp>
#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/replica_context.hpp>

#include <utility>

namespace chorus {
namespace {

thread_local StrategyContext context;

ReplicaContext& default_replica() {
  static ReplicaContext replica(DefaultStrategy::instance(), 0);
  return replica;
}

}  // namespace

const StrategyContext& current_context() noexcept { return context; }

Strategy& get_strategy() noexcept {
  return context.strategy != nullptr ? *context.strategy : DefaultStrategy::instance();
}

bool has_strategy() noexcept { return context.strategy != nullptr; }

bool in_cross_replica_context() noexcept { return context.cross_replica; }

ReplicaContextPointer get_replica_context() noexcept {
  if (context.replica != nullptr || context.cross_replica) return ReplicaContextPointer(context.replica);
  return ReplicaContextPointer(&default_replica());
}

ReplicaContext* ReplicaContextPointer::checked() const {
  if (context_ != nullptr) return context_;
  throw Error(ErrorCode::wrong_context,
              "get_replica_context: there is none in the scope of a strategy and in the function of a merge_call: call "
              "it in the function given to run, or reduce what the run has returned by Strategy::reduce");
}

void set_strategy(Strategy* strategy) {
  if (context.scoped) {
    throw Error(ErrorCode::wrong_context,
                "set_strategy: must not be called inside of a scope or a replica: call it outside of them");
  }
  const bool none = strategy == nullptr || strategy == &DefaultStrategy::instance();
  context = none ? StrategyContext{} : StrategyContext{.strategy = strategy, .cross_replica = true};
}

void detail::leave_scope_of(const Strategy& strategy) noexcept {
  if (context.strategy == &strategy) context = StrategyContext{.scoped = context.scoped};
}

ContextGuard::ContextGuard(const StrategyContext& entered) noexcept : before_(std::exchange(context, entered)) {}

ContextGuard::~ContextGuard() { context = before_; }

ContextSnapshot::ContextSnapshot() : context_(current_context()) {
  if (context_.replica != nullptr) {
    throw Error(ErrorCode::wrong_context,
                "ContextSnapshot: the context of a replica belongs to its thread: take the snapshot outside of run");
  }
  context_.options = nullptr;  // they end with the run, in the function of whose merge_call this may be
}

}  // namespace chorus
