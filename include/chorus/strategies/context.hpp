// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <optional>

namespace chorus {

struct CommunicationOptions;
class ReplicaContext;
class Strategy;

// Which strategy the code of this thread runs under, and whether it is one of its replicas. A thread starts outside of
// every scope; the replicas of a run get the context of their strategy.

/// The strategy of this thread: that of the innermost scope or of the replica it is; the default one elsewhere.
[[nodiscard]] CHORUS_API Strategy& get_strategy() noexcept;
/// True where that is not the default strategy.
[[nodiscard]] CHORUS_API bool has_strategy() noexcept;
/// True in the scope of a strategy and in the function of a merge_call, false in a replica and outside of every scope.
[[nodiscard]] CHORUS_API bool in_cross_replica_context() noexcept;
/// A pointer to what a replica can do, or null. Who follows a null one is told so.
class ReplicaContextPointer {
 public:
  explicit ReplicaContextPointer(ReplicaContext* context) noexcept : context_(context) {}
  operator ReplicaContext*() const noexcept { return context_; }  // NOLINT(google-explicit-constructor)
  /// Both throw Error{wrong_context} where it is null.
  [[nodiscard]] ReplicaContext& operator*() const { return *checked(); }
  [[nodiscard]] ReplicaContext* operator->() const { return checked(); }

 private:
  [[nodiscard]] CHORUS_API ReplicaContext* checked() const;
  ReplicaContext* context_;
};

/// The replica this thread is; null in a cross-replica context. Outside of every scope the only replica of the default
/// strategy.
[[nodiscard]] CHORUS_API ReplicaContextPointer get_replica_context() noexcept;
/// Makes `strategy` that of this thread until another is set; null: the default one.
/// Throws   Error{wrong_context} inside of a scope or a replica.
CHORUS_API void set_strategy(Strategy* strategy);

/// What a thread knows of the strategy it runs under.
struct StrategyContext {
  Strategy* strategy = nullptr;       ///< null: the default one
  ReplicaContext* replica = nullptr;  ///< null: cross-replica, or the default replica where there is no strategy
  bool cross_replica = false;
  std::optional<int> update_replica = {};         ///< in the function of an update: whose component it updates
  bool scoped = false;                            ///< came by a scope or a run, not by set_strategy
  const CommunicationOptions* options = nullptr;  ///< in a run: those of its RunOptions
};

/// Puts this thread in `context` as long as it lives, then back into the one before, also when an exception passes.
class CHORUS_API ContextGuard {
 public:
  explicit ContextGuard(const StrategyContext& context) noexcept;
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  ~ContextGuard();

 private:
  StrategyContext before_;
};

/// The context of this thread, to be carried into another: ContextGuard guard(snapshot.context()).
/// Throws   Error{wrong_context} in a replica, whose context is its own thread's only.
class CHORUS_API ContextSnapshot {
 public:
  ContextSnapshot();
  [[nodiscard]] const StrategyContext& context() const noexcept { return context_; }

 private:
  StrategyContext context_;
};

namespace detail {
/// `strategy` ends: where this thread is in its scope, it is in that of the default strategy instead.
void leave_scope_of(const Strategy& strategy) noexcept;
}  // namespace detail

/// The context of this thread as it is.
[[nodiscard]] CHORUS_API const StrategyContext& current_context() noexcept;

}  // namespace chorus
