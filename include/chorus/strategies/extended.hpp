// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/cross_device_ops.hpp>
#include <chorus/strategies/detail/arguments.hpp>
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

class MultiStepContext;
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

/// Where something lies that belongs to several variables.
struct NonSlotDevices {
  std::vector<Device> devices = {};  ///< empty for the default strategy, which has none
  std::string variable = {};         ///< in the default strategy the first one's name in the order of the alphabet
};

/// The lower-level side of a strategy: Strategy::extended.
class CHORUS_API StrategyExtended {
 public:
  /// Called by all workers.
  /// Throws   Error{invalid_argument} where a device is named twice, or workers have different numbers of them.
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
  [[nodiscard]] const std::shared_ptr<ReplicaGroup>& shared_group() const noexcept { return group_; }
  [[nodiscard]] ReplicaGroup& group() noexcept { return *group_; }
  [[nodiscard]] const ReplicaGroup& group() const noexcept { return *group_; }
  [[nodiscard]] CrossDeviceOps& cross_device_ops() noexcept { return *parts_.cross_device_ops; }
  /// Those of the strategy; in a run, with what its RunOptions set.
  [[nodiscard]] CommunicationOptions communication_options() const noexcept;
  /// The same with those of one call.
  /// Throws   Error{invalid_argument} where they contradict each other.
  [[nodiscard]] CommunicationOptions options_of_call(const CommunicationOptions& options) const;
  [[nodiscard]] const ClusterResolver* cluster_resolver() const noexcept { return parts_.cluster_resolver.get(); }
  /// True on the worker that writes checkpoints and summaries: the chief.
  [[nodiscard]] bool should_checkpoint() const noexcept { return group_->layout().worker == 0; }

  // What follows is called in the cross-replica context, by all workers; the reductions and the broadcast throw
  // Error{wrong_context} elsewhere.

  /// The reduction over all replicas, for each of them. As Strategy::reduce.
  template <Structure T>
  [[nodiscard]] Mirrored<T> reduce_to(ReduceOp op, PerReplica<T> value, const CommunicationOptions& options = {}) {
    check_cross_replica("StrategyExtended::reduce_to");
    group_->together([&] {
      const int first = value.layout().first_replica();
      reduce_components({.function = StrategyFunction::reduce_to, .op = op}, op,
                        detail::leaves_of_components(value.values(), first, "reduce_to"), options);
    });
    return Mirrored<T>(value.layout(), {value.values().begin(), value.values().end()});
  }
  /// The same of several, which are sent together.
  template <Structure T>
  [[nodiscard]] std::vector<Mirrored<T>> batch_reduce_to(ReduceOp op, std::vector<PerReplica<T>> values,
                                                         const CommunicationOptions& options = {});
  /// Worker 0's `value`, for each replica.
  template <Leaf T>
  [[nodiscard]] Mirrored<T> broadcast_to(T value) {
    check_cross_replica("StrategyExtended::broadcast_to");
    group_->together([&] { broadcast(tensor_ref(value)); });
    const ReplicaLayout layout = group_->layout();
    return Mirrored<T>(layout, std::vector<T>(static_cast<std::size_t>(layout.local_replicas), value));
  }
  /// Calls `function(component, args...)` for every component of `variable` on this worker; a distributed argument
  /// gives its own component for each, that of the first replica where the variable has one component for all. In a
  /// replica all replicas call, and it is done once for all. The function is in the cross-replica context of this
  /// strategy. Returns what it has returned, a std::vector in the order of the components; nothing where it returns
  /// nothing.
  /// Throws   Error{invalid_argument} where `variable` belongs to another strategy, or a DistributedValues has not one
  ///          component for each local replica; Error{wrong_context} in the scope of another strategy;
  ///          Error{mismatch} on every replica where they update different variables, by different functions or with
  ///          arguments of different types.
  template <Leaf T, class Function, class... Args>
  auto update(const Variable<T>& variable, Function&& function, Args&&... args);
  /// Where something is kept that belongs to several variables, such as an optimizer's count of steps.
  template <Leaf... T>
  [[nodiscard]] NonSlotDevices non_slot_devices(const Variable<T>&... variables) const;
  /// Calls `function(args...)` once for each of the devices `where`, as update does for each component.
  /// Throws   Error{invalid_argument} where they are not this strategy's; else as update, also where replicas give
  ///          different devices.
  template <class Function, class... Args>
  auto update_non_slot(const NonSlotDevices& where, Function&& function, Args&&... args);
  /// What Strategy::run does.
  template <class Function, class... Args>
  auto call_for_each_replica(Function&& function, Args&&... args);
  /// Its value: Variable::value.
  /// Throws   Error{invalid_argument} where `variable` belongs to another strategy; as Variable::value.
  template <Leaf T>
  [[nodiscard]] const T& read_var(const Variable<T>& variable) const;
  /// The variable that `component` is a component of, on this worker; none where it is of no variable.
  template <Leaf T>
  [[nodiscard]] std::optional<Variable<T>> value_container(const T& component) const;
  /// A variable is its own.
  template <Leaf T>
  [[nodiscard]] Variable<T> value_container(const Variable<T>& variable) const {
    return variable;
  }
  /// Calls `function(outputs, step)` for the next `iterations` steps of `iterator`, a DistributedIterator, or as many
  /// as there are, in the scope of this strategy: it runs the replicas. Returns what the steps have put in `outputs`,
  /// which holds at first what is given. Include chorus/strategies/multi_step_context.hpp.
  /// Throws   Error{invalid_argument} where `iterations` is less than 0; what `function` and `iterator` throw.
  template <class Function, class Iterator>
  MultiStepContext run_steps(const Function& function, Iterator& iterator, int iterations, MultiStepContext outputs);
  template <class Function, class Iterator>
  auto run_steps(const Function& function, Iterator& iterator, int iterations = 1) {
    return run_steps(function, iterator, iterations, {});
  }
  /// How the losses of the replicas are joined: get_loss_reduction.
  [[nodiscard]] ReduceOp loss_reduction() const noexcept { return loss_reduction_; }
  void set_loss_reduction(ReduceOp op);
  /// True where `variable` was made in the scope of this strategy.
  template <Leaf T>
  [[nodiscard]] bool variable_created_in_scope(const Variable<T>& variable) const {
    return &variable.strategy() == strategy_;
  }
  /// A scope of this strategy, also outside of every scope, in which variables lie where `variable` does: with it, on
  /// the devices of this strategy.
  /// Throws   Error{invalid_argument} where `variable` belongs to another strategy; Error{wrong_context} in the scope
  ///          of another strategy.
  template <Leaf T>
  [[nodiscard]] ContextGuard colocate_vars_with(const Variable<T>& variable);

 private:
  friend class ReplicaContext;
  friend class Strategy;
  /// What comes before a reduction that is a part of `call`, whose structure is that of `values`: checks them, says to
  /// the workers what is reduced, and returns the options.
  CommunicationOptions begin_reduction(StrategyCall call, ReduceOp op, const detail::ReplicaLeaves& values,
                                       const CommunicationOptions& options);
  /// As a part of `call`.
  void reduce_components(const StrategyCall& call, ReduceOp op, const detail::ReplicaLeaves& values,
                         const CommunicationOptions& options);
  void broadcast(const TensorRef& tensor);
  /// Throws where this strategy cannot be used in the context of this thread, a replica or another strategy's scope.
  void check_entry(const char* function, const std::string& instead) const;
  void check_cross_replica(const char* function) const;
  /// The same for what its replicas may call, too.
  void check_update(const char* function) const;
  /// Throws unless `value` has a component for each local replica.
  void check_components(std::size_t components, const char* function) const;
  /// The same of each DistributedValues among `args`.
  template <class... Args>
  void check_arguments([[maybe_unused]] const char* function, const Args&... args) const {
    [[maybe_unused]] const auto check = [&](std::size_t components) { check_components(components, function); };
    (detail::for_each_distributed(args, check), ...);
  }
  /// update(args...) here, or, where this is a replica, once for all of them, which all make `call` for the same `use`
  /// with the same `arguments`.
  template <class Update, class... Args>
  auto update_for_all(const StrategyCall& call, const ReplicaGroup::Use& use, std::string arguments,
                      const Update& update, Args&&... args);
  /// That of the function of an update.
  [[nodiscard]] StrategyContext update_context(int component) const;
  /// call(i) in the update context of each of `components` components; what they return, in their order.
  template <class Call>
  auto update_each(std::size_t components, const Call& call) const;
  /// Throws unless the variable of that name belongs to this strategy.
  void check_owner(const char* function, const std::string& variable, const Strategy& owner) const;
  void check_placed(const char* function) const;
  void check_non_slot(const NonSlotDevices& where) const;
  static void check_iterations(int iterations);

  StrategyParts parts_;
  std::shared_ptr<ReplicaGroup> group_;  // of inputs, too, which may outlive the strategy
  Strategy* strategy_ = nullptr;
  ReduceOp loss_reduction_ = ReduceOp::sum;
};

template <Structure T>
std::vector<Mirrored<T>> StrategyExtended::batch_reduce_to(ReduceOp op, std::vector<PerReplica<T>> values,
                                                           const CommunicationOptions& options) {
  check_cross_replica("StrategyExtended::batch_reduce_to");
  group_->together([&] {
    detail::ReplicaLeaves all;
    for (PerReplica<T>& value : values) {
      const int first = value.layout().first_replica();
      detail::ReplicaLeaves leaves = detail::leaves_of_components(value.values(), first, "batch_reduce_to");
      for (ReplicaTensors& each : leaves.tensors) all.tensors.push_back(std::move(each));
      for (ReplicaSlices& each : leaves.slices) all.slices.push_back(std::move(each));
      all.structure = all.structure * 31 + leaves.structure;
    }
    all.paths = [&values] {
      std::vector<std::string> paths;
      for (std::size_t i = 0; i < values.size(); ++i) {
        for (const std::string& path : detail::tensor_paths_of(values[i].values().front())) {
          paths.push_back(std::string("value ").append(std::to_string(i)).append(path));
        }
      }
      return paths;
    };
    reduce_components({.function = StrategyFunction::batch_reduce_to, .op = op}, op, all, options);
  });
  std::vector<Mirrored<T>> reduced;
  for (const PerReplica<T>& value : values) {
    reduced.emplace_back(value.layout(), std::vector<T>(value.values().begin(), value.values().end()));
  }
  return reduced;
}

}  // namespace chorus
