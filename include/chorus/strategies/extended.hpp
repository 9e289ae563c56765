// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/cross_device_ops.hpp>
#include <chorus/strategies/replica_group.hpp>
#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/values.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

class Strategy;
template <Leaf T>
class Variable;

/// What a strategy is made of: where its replicas run and its variables lie, and what reduces between them.
struct StrategyParts {
  std::string name = {};
  std::vector<Device> worker_devices = {};
  bool anywhere = false;                       ///< the replica runs on whatever thread calls it, on no device
  std::vector<Device> parameter_devices = {};  ///< empty: variables lie where the replicas run
  std::optional<Communicator> workers = {};    ///< none: this process alone
  std::unique_ptr<CrossDeviceOps> cross_device_ops = {};  ///< null: CollectiveAllReduce
  CommunicationOptions communication_options = {};
  std::shared_ptr<const ClusterResolver> cluster_resolver = {};
};

/// The lower-level side of a strategy: Strategy::extended.
class CHORUS_API StrategyExtended {
 public:
  /// Called by all workers.
  explicit StrategyExtended(StrategyParts parts);
  StrategyExtended(const StrategyExtended&) = delete;
  StrategyExtended& operator=(const StrategyExtended&) = delete;
  ~StrategyExtended();

  [[nodiscard]] const std::string& name() const noexcept { return parts_.name; }
  [[nodiscard]] Strategy& strategy() const noexcept { return *strategy_; }
  /// True of the default strategy, whose replica runs on whatever thread calls it.
  [[nodiscard]] bool anywhere() const noexcept { return parts_.anywhere; }
  /// The devices of this worker that run replicas.
  /// Throws   Error{wrong_context} for the default strategy, which has no devices.
  [[nodiscard]] std::span<const Device> worker_devices() const;
  /// The devices of this worker where variables lie.
  /// Throws   as worker_devices.
  [[nodiscard]] std::span<const Device> parameter_devices() const;
  [[nodiscard]] ReplicaGroup& group() noexcept { return group_; }
  [[nodiscard]] const ReplicaGroup& group() const noexcept { return group_; }
  [[nodiscard]] CrossDeviceOps& cross_device_ops() noexcept { return *parts_.cross_device_ops; }
  [[nodiscard]] const CommunicationOptions& communication_options() const noexcept {
    return parts_.communication_options;
  }
  /// The same with those of one call.
  /// Throws   Error{invalid_argument} where they contradict each other.
  [[nodiscard]] CommunicationOptions options_of_call(const CommunicationOptions& options) const;
  [[nodiscard]] const ClusterResolver* cluster_resolver() const noexcept { return parts_.cluster_resolver.get(); }
  /// True on the worker that writes checkpoints and summaries: the chief.
  [[nodiscard]] bool should_checkpoint() const noexcept { return group_.layout().worker == 0; }

  // What follows is called in the cross-replica context, by all workers; the reductions and the broadcast throw
  // Error{wrong_context} elsewhere.

  /// The reduction over all replicas, for each of them. As Strategy::reduce.
  template <Structure T>
  [[nodiscard]] Mirrored<T> reduce_to(ReduceOp op, PerReplica<T> value, const CommunicationOptions& options = {}) {
    check_cross_replica("reduce_to");
    reduce_components(op, detail::leaves_of_components(value.values(), "reduce_to"), options);
    return Mirrored<T>(value.layout(), {value.values().begin(), value.values().end()});
  }
  /// The same of several, which are sent together.
  template <Structure T>
  [[nodiscard]] std::vector<Mirrored<T>> batch_reduce_to(ReduceOp op, std::vector<PerReplica<T>> values,
                                                         const CommunicationOptions& options = {});
  /// Worker 0's `value`, for each replica.
  template <Leaf T>
  [[nodiscard]] Mirrored<T> broadcast_to(T value) {
    check_cross_replica("broadcast_to");
    broadcast(tensor_ref(value));
    const ReplicaLayout layout = group_.layout();
    return Mirrored<T>(layout, std::vector<T>(static_cast<std::size_t>(layout.local_replicas), value));
  }
  /// Calls `function(component, args...)` for every component of `variable` on this worker; a distributed argument
  /// gives its own component for each. In a replica all replicas call, and it is done once for all.
  template <Leaf T, class Function, class... Args>
  void update(const Variable<T>& variable, Function&& function, Args&&... args);
  /// True where `variable` was made in the scope of this strategy.
  template <Leaf T>
  [[nodiscard]] bool variable_created_in_scope(const Variable<T>& variable) const {
    return &variable.strategy() == strategy_;
  }
  /// In its scope variables lie where `variable` does: with it, on the devices of this strategy.
  /// Throws   Error{invalid_argument} where `variable` belongs to another strategy.
  template <Leaf T>
  [[nodiscard]] ContextGuard colocate_vars_with(const Variable<T>& variable);

 private:
  friend class Strategy;
  void reduce_components(ReduceOp op, const detail::ReplicaLeaves& values, const CommunicationOptions& options);
  void broadcast(const TensorRef& tensor);
  void check_cross_replica(const char* function) const;
  /// Throws unless `value` has a component for each local replica.
  void check_components(std::size_t components, const char* function) const;
  [[noreturn]] void reject_variable(const std::string& name, const Strategy& owner) const;
  void check_placed(const char* function) const;

  StrategyParts parts_;
  ReplicaGroup group_;
  Strategy* strategy_ = nullptr;
};

}  // namespace chorus
