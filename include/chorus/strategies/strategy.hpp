// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/cross_device_ops.hpp>
#include <chorus/strategies/detail/arguments.hpp>
#include <chorus/strategies/detail/gathered.hpp>
#include <chorus/strategies/distributed_dataset.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/input_options.hpp>
#include <chorus/strategies/printing.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/replica_group.hpp>
#include <chorus/strategies/run_options.hpp>
#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/values.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// How a computation is spread over devices and processes: a program says what one replica does, and the strategy runs
/// as many as it has devices. All strategies are used alike; which one it is decides where replicas run, where
/// variables lie and what carries reductions.
///
/// Order    where there are several workers, all of them make the same calls in the same order; one thread at a time.
class CHORUS_API Strategy {
 public:
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy();

  /// Its name, for messages: "mirrored".
  [[nodiscard]] const std::string& name() const noexcept;
  /// The number of replicas of all workers.
  [[nodiscard]] int num_replicas_in_sync() const noexcept;
  [[nodiscard]] ReplicaLayout layout() const noexcept;
  /// Which tasks there are and which one this is; null where the strategy is one of this process alone.
  [[nodiscard]] const ClusterResolver* cluster_resolver() const noexcept;
  [[nodiscard]] StrategyExtended& extended() noexcept { return *extended_; }

  /// Puts this thread in the cross-replica context of this strategy as long as it lives; entering it again is fine.
  /// Throws   Error{wrong_context} in the scope of another strategy, or in a replica.
  [[nodiscard]] ContextGuard scope();

  /// Calls `function(args...)` on every replica at the same time; each gets its component of a DistributedValues, also
  /// of one inside of a tuple, vector or map, and other arguments as they are. Returns what the replicas returned.
  ///
  /// Order    called by all workers, not in a replica. Returns when the replicas of all workers have ended.
  /// Throws   Error{wrong_context} in a replica, in the function of a merge_call, or in the scope of another strategy;
  ///          Error{invalid_argument} where a DistributedValues has not one component for each local replica; what the
  ///          first replica that failed has thrown, on other workers Error{revoked} with its text; Error{mismatch} on
  ///          all workers where the replicas return structures with vectors of other lengths or maps of other keys.
  template <class Function, class... Args>
  requires(!std::same_as<std::remove_cvref_t<Function>, RunOptions>) auto run(Function&& function, Args&&... args) {
    return run(RunOptions{}, std::forward<Function>(function), std::forward<Args>(args)...);
  }
  /// The same with options for this run: run({.communication = {.timeout = 5s}}, function, args...).
  template <class Function, class... Args>
  auto run(const RunOptions& options, Function&& function, Args&&... args);

  /// Gives every worker the reduction over all replicas of `value`: sum, average, min or max of tensors of one shape,
  /// sum or average of IndexedSlices, or of structures of them.
  ///
  /// Result   where numbers are not a number so is the result. IndexedSlices have the rows that any replica has, sorted
  ///          by their indices, each once.
  /// Throws   Error{wrong_context} in a replica: ReplicaContext::all_reduce is for those; Error{invalid_argument} for
  ///          other operations, averages of integers, and components that differ in structure or shape;
  ///          Error{not_supported} for min and max of IndexedSlices.
  template <Structure T>
  [[nodiscard]] T reduce(ReduceOp op, PerReplica<T> value);
  /// The same over the replicas and over the dimensions `axes` of each tensor (from the last where they are negative),
  /// in which lengths may differ and be 0: an average is over all elements, not over the replicas' averages.
  /// `reduce(ReduceOp::average, losses, {0})`. Sums and averages of float and 16-bit numbers are made in double, and
  /// rounded once; those of double and long double lose next to nothing, however many numbers there are.
  /// Throws   also Error{invalid_argument} where an axis is none, or min and max of no elements are asked for.
  template <Leaf T, std::size_t K>
  [[nodiscard]] auto reduce(ReduceOp op, const PerReplica<T>& value, const int (&axes)[K]);
  template <Leaf T, std::integral Axis>
  [[nodiscard]] auto reduce(ReduceOp op, const PerReplica<T>& value, Axis axis) {
    const int axes[] = {static_cast<int>(axis)};
    return reduce(op, value, axes);
  }
  /// An axis is a whole number.
  template <Leaf T, std::floating_point Axis>
  auto reduce(ReduceOp op, const PerReplica<T>& value, Axis axis) = delete;
  /// Of a value that is the same everywhere: the average, least and largest of such values is the value itself.
  /// Throws   as above; Error{invalid_argument} for a sum over several replicas, unless it is one of zeros: each
  ///          replica would have to have a part of it.
  template <Structure T>
  requires(!detail::HoldsDistributed<T>::value) [[nodiscard]] T reduce(ReduceOp op, T value);

  /// Of tuples, vectors and maps that hold DistributedValues: as of the PerReplica of what they are on each replica.
  template <detail::HoldsDistributedValues T>
  [[nodiscard]] auto reduce(ReduceOp op, const T& value) {
    return reduce(op, per_replica_of("Strategy::reduce", value));
  }
  template <Structure T>
  [[nodiscard]] T reduce(ReduceOp op, const Mirrored<T>& value) {
    check_cross_replica("Strategy::reduce", "ReplicaContext::all_reduce");
    extended_->group().ahead([&] { extended_->check_arguments("Strategy::reduce", value); });
    return reduce(op, value.get());
  }
  template <Leaf T>
  [[nodiscard]] T reduce(ReduceOp op, const Variable<T>& variable);

  /// Gives every worker the tensors of all replicas, one after the other along the dimension `axis` (from the last
  /// where it is negative), in the order of the replicas; of a structure of tensors the structure of what each of its
  /// leaves is gathered to.
  ///
  /// Shapes   tensors with at least one dimension, whose lengths may differ between replicas in `axis` only; the same
  ///          structure on every replica. Members of aggregates have dimensions of any length.
  /// Result   where a leaf has a dimension of fixed length, LeafTraits::Variable of its type.
  /// Throws   Error{wrong_context} in a replica: ReplicaContext::all_gather is for those; Error{invalid_argument} where
  ///          the shapes of a leaf, which the text names, do not go together or have no such axis; Error{mismatch}
  ///          where the structures differ; Error{not_supported} for IndexedSlices.
  template <Structure T>
  [[nodiscard]] auto gather(const PerReplica<T>& value, int axis) {
    return gather_for("Strategy::gather", value, axis, {});
  }
  /// The components of all replicas, as of a PerReplica.
  template <Structure T>
  [[nodiscard]] auto gather(const Mirrored<T>& value, int axis) {
    return gather(PerReplica<T>(value.layout(), {value.values().begin(), value.values().end()}), axis);
  }
  /// What the replicas read of it, as of a PerReplica.
  template <Leaf T>
  [[nodiscard]] auto gather(const Variable<T>& variable, int axis);
  /// Of tuples, vectors and maps that hold DistributedValues: as of the PerReplica of what they are on each replica.
  template <detail::HoldsDistributedValues T>
  [[nodiscard]] auto gather(const T& value, int axis) {
    return gather(per_replica_of("Strategy::gather", value), axis);
  }
  /// A value that is not distributed comes back as it is.
  template <Structure T>
  requires(!detail::HoldsDistributed<T>::value) [[nodiscard]] T gather(T value, int /*axis*/) {
    static_assert(detail::is_walkable<T>(), "gather joins tensors, or tuples, vectors, maps and aggregates of them");
    check_cross_replica("Strategy::gather", "ReplicaContext::all_gather");
    return value;
  }
  /// An axis is a whole number.
  template <class T, std::floating_point Axis>
  auto gather(const T& value, Axis axis) = delete;

  /// The values of this worker's replicas: where `value` is a tuple, vector or map that holds DistributedValues, what
  /// it is on each of them; `value` alone where nothing of it is distributed.
  /// Throws   Error{invalid_argument} where what it holds has not one component for each local replica.
  template <class T>
  [[nodiscard]] std::vector<T> local_results(const DistributedValues<T>& value) const {
    std::vector<T> results;
    for (const T& each : value.values()) results.push_back(each);
    return results;
  }
  template <detail::HoldsDistributedValues T>
  [[nodiscard]] auto local_results(const T& value) const {
    return components_of("Strategy::local_results", value);
  }
  template <class T>
  requires(!detail::HoldsDistributed<T>::value) [[nodiscard]] std::vector<T> local_results(const T& value) const {
    return {value};
  }

  /// The batches of `dataset`, each of which has the rows of all replicas together, divided among the replicas: see
  /// DistributedDataset. Called by all workers.
  template <BatchStructure B>
  [[nodiscard]] DistributedDataset<B> distribute_dataset(const Dataset<B>& dataset, InputOptions options = {}) {
    check_cross_replica("Strategy::distribute_dataset", "an iterator's batch");
    return DistributedDataset<B>(dataset, layout(), input_workers(), std::move(options));
  }
  /// The batches that `make_dataset(InputContext)` gives on each worker, as they are: see
  /// DistributedDataset::from_function. Called by all workers.
  template <std::invocable<const InputContext&> Function>
  [[nodiscard]] auto distribute_datasets_from_function(const Function& make_dataset, InputOptions options = {}) {
    check_cross_replica("Strategy::distribute_datasets_from_function", "an iterator's batch");
    using Batch = typename std::invoke_result_t<Function, const InputContext&>::Element;
    return DistributedDataset<Batch>::from_function(make_dataset, layout(), input_workers(), std::move(options));
  }

  /// The values that `function(ValueContext)` gives for the replicas of this worker.
  template <std::invocable<const ValueContext&> Function>
  [[nodiscard]] auto distribute_values_from_function(const Function& function);

 protected:
  explicit Strategy(std::unique_ptr<StrategyExtended> extended) noexcept;

 private:
  friend class ReplicaContext;
  void check_cross_replica(const char* function, const char* instead) const;
  void check_may_run() const;
  /// They meet as in other calls outside of runs, so that a worker that makes another call instead is noticed.
  [[nodiscard]] detail::InputWorkers input_workers() const;
  /// reduce as a part of `call`.
  template <Structure T>
  [[nodiscard]] T reduce_for(const StrategyCall& call, ReduceOp op, PerReplica<T> value);
  /// The reduction of `components`, one of each local replica, over all replicas and over `axes`, written to what
  /// `result` makes.
  void reduce_along(ReduceOp op, std::span<const TensorRef> components, std::span<const int> axes,
                    const detail::AxisResult& result);
  void run_replicas(const RunOptions& options, const std::function<void(int)>& body,
                    const std::function<std::uint64_t()>& structure = {});
  /// What `value` is on each local replica, for a call of `function`.
  template <detail::HoldsDistributedValues T>
  [[nodiscard]] auto components_of(const char* function, const T& value) const;
  template <detail::HoldsDistributedValues T>
  [[nodiscard]] auto per_replica_of(const char* function, const T& value) {
    return PerReplica(layout(), extended_->group().ahead([&] { return components_of(function, value); }));
  }
  /// gather, which messages call `function`.
  template <Structure T>
  [[nodiscard]] auto gather_for(const char* function, const PerReplica<T>& value, int axis,
                                const CommunicationOptions& options);
  [[noreturn]] static void reject_gathering_slices(const char* function);
  void gather_parts(const detail::Gathering& gathering, int axis, const CommunicationOptions& options);

  std::unique_ptr<StrategyExtended> extended_;
};

template <class Function, class... Args>
auto Strategy::run(const RunOptions& options, Function&& function, Args&&... args) {
  using Result = decltype(std::invoke(function, detail::component_of(args, 0)...));
  check_may_run();
  extended_->group().ahead([&] { extended_->check_arguments("Strategy::run", args...); });
  if constexpr (std::is_void_v<Result>) {
    run_replicas(options,
                 [&]([[maybe_unused]] int replica) { std::invoke(function, detail::component_of(args, replica)...); });
  } else {
    std::vector<std::optional<std::decay_t<Result>>> results(static_cast<std::size_t>(layout().local_replicas));
    const auto body = [&](int replica) {
      results[static_cast<std::size_t>(replica)] = std::invoke(function, detail::component_of(args, replica)...);
    };
    std::vector<std::decay_t<Result>> values;
    const auto take_results = [&] {
      for (auto& result : results) values.push_back(std::move(*result));
    };
    if constexpr (detail::may_differ<std::decay_t<Result>>()) {
      run_replicas(options, body, [&] {
        take_results();
        return detail::checked_structure(std::span(values), layout().first_replica(), "Strategy::run");
      });
    } else {
      run_replicas(options, body);
      take_results();
    }
    return PerReplica(layout(), std::move(values));
  }
}

template <Structure T>
T Strategy::reduce(ReduceOp op, PerReplica<T> value) {
  check_cross_replica("Strategy::reduce", "ReplicaContext::all_reduce");
  return reduce_for({.function = StrategyFunction::reduce, .op = op}, op, std::move(value));
}

template <Structure T>
T Strategy::reduce_for(const StrategyCall& call, ReduceOp op, PerReplica<T> value) {
  extended_->group().together([&] {
    const int first = value.layout().first_replica();
    extended_->reduce_components(call, op, detail::leaves_of_components(value.values(), first, "Strategy::reduce"), {});
  });
  return std::move(value[0]);
}

template <Leaf T, std::size_t K>
auto Strategy::reduce(ReduceOp op, const PerReplica<T>& value, const int (&axes)[K]) {
  check_cross_replica("Strategy::reduce", "ReplicaContext::all_reduce");
  using Less = typename LeafTraits<T>::template Less<static_cast<int>(K)>;
  std::vector<TensorRef> components;
  for (const T& component : value.values()) {                     // which are read only
    components.push_back(tensor_ref(const_cast<T&>(component)));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  std::optional<Less> result;
  const auto make = [&](const Shape& shape) { return tensor_ref(result.emplace(LeafTraits<Less>::make(shape))); };
  reduce_along(op, components, axes, {LeafTraits<Less>::order, make});
  return std::move(*result);
}

template <Structure T>
requires(!detail::HoldsDistributed<T>::value) T Strategy::reduce(ReduceOp op, T value) {
  check_cross_replica("Strategy::reduce", "ReplicaContext::all_reduce");
  detail::check_same_everywhere(op, leaves_of(value), num_replicas_in_sync());
  return value;
}

template <detail::HoldsDistributedValues T>
auto Strategy::components_of(const char* function, const T& value) const {
  extended_->check_arguments(function, value);
  std::vector<std::decay_t<decltype(detail::component_of(value, 0))>> components;
  for (int i = 0; i < layout().local_replicas; ++i) components.push_back(detail::component_of(value, i));
  return components;
}

template <Structure T>
auto Strategy::gather_for(const char* function, const PerReplica<T>& value, int axis,
                          const CommunicationOptions& options) {
  detail::check_gathers<T>();
  check_cross_replica(function, "ReplicaContext::all_gather");
  if constexpr (detail::every_leaf<detail::IsNoSlices, T>()) {
    auto gathered = detail::nothing_gathered(value[0]);
    const auto components =
        const_cast<PerReplica<T>&>(value).values();  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const int first = value.layout().first_replica();
    gather_parts(extended_->group().ahead([&] { return detail::gathering_of(function, components, first, gathered); }),
                 axis, options);
    return gathered;
  } else {
    reject_gathering_slices(function);
    return value[0];
  }
}

template <std::invocable<const ValueContext&> Function>
auto Strategy::distribute_values_from_function(const Function& function) {
  check_cross_replica("Strategy::distribute_values_from_function", "a captured value");
  return values_from_function(layout(), function);
}

template <Structure T>
auto ReplicaContext::all_gather(const T& value, int axis, const CommunicationOptions& options, const CallSite& where) {
  const auto gather = [axis, &options](Strategy& strategy, const PerReplica<T>& values) {
    return strategy.gather_for("ReplicaContext::all_gather", values, axis, options);
  };
  std::string arguments = "axis " + std::to_string(axis);
  return merge_at({.what = "all_gather", .where = where, .timeout = options.timeout, .arguments = std::move(arguments)},
                  gather, std::tuple<T>(value));
}

template <class Function, class... Args>
auto StrategyExtended::call_for_each_replica(Function&& function, Args&&... args) {
  return strategy_->run(std::forward<Function>(function), std::forward<Args>(args)...);
}

}  // namespace chorus
