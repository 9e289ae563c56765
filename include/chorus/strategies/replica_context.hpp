// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device_span.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/call_site.hpp>
#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/detail/arguments.hpp>
#include <chorus/strategies/detail/structure_parts.hpp>
#include <chorus/strategies/device_tensor_ref.hpp>
#include <chorus/strategies/replica_group.hpp>
#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/values.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace chorus {

class MultiStepContext;
class OverlappedAllReduce;
class PendingAllReduce;
class Strategy;
class StrategyExtended;

/// What a replica can do while it runs: get_replica_context() in the function given to Strategy::run.
class CHORUS_API ReplicaContext {
 public:
  ReplicaContext(Strategy& strategy, int local_replica) noexcept : strategy_(strategy), local_replica_(local_replica) {}
  ReplicaContext(const ReplicaContext&) = delete;
  ReplicaContext& operator=(const ReplicaContext&) = delete;

  [[nodiscard]] Strategy& strategy() const noexcept { return strategy_; }
  [[nodiscard]] int num_replicas_in_sync() const noexcept;
  /// The number of this replica among all, from 0.
  [[nodiscard]] int replica_id_in_sync_group() const noexcept;
  /// Its number among the replicas of this worker, from 0.
  [[nodiscard]] int local_replica() const noexcept { return local_replica_; }
  /// Where it runs.
  /// Throws   Error{wrong_context} for the replica of the default strategy, which runs wherever it is called.
  [[nodiscard]] const Device& device() const;

  /// Gives every replica the reduction over all replicas of their `value`: a tensor, IndexedSlices, or a structure of
  /// them.
  ///
  /// Shapes   the same structure with the same types and shapes on every replica; of IndexedSlices any number of rows.
  /// Order    every replica calls, in the same order.
  /// Result   the same bits on every replica. IndexedSlices have the rows that any replica has, sorted by their
  ///          indices, each once.
  /// Throws   Error{wrong_context} where this thread is not this replica; Error{invalid_argument} for other operations
  ///          than sum, average, min and max, and for averages of integers; Error{not_supported} for min and max of
  ///          IndexedSlices; Error{mismatch} on every replica where lengths, shapes or the keys of maps differ; what
  ///          the collectives throw.
  template <Structure T>
  [[nodiscard]] T all_reduce(ReduceOp op, T value, const CommunicationOptions& options = {}) {
    all_reduce_in_place(op, value, options);
    return value;
  }
  /// The same in place.
  template <Structure T>
  void all_reduce_in_place(ReduceOp op, T& value, const CommunicationOptions& options = {}) {
    const LeafRefs leaves = leaves_of(value);
    StrategyCall call{.function = StrategyFunction::all_reduce};
    if constexpr (detail::may_differ<T>()) {
      call.structure = detail::structure_number(value);
      if (num_replicas_in_sync() > 1 && !detail::knows_parts(call.structure))
        detail::remember_parts(call.structure, paths_of(value));
    }
    if (!leaves.slices.empty()) all_reduce_slices(op, leaves.slices, options, call);
    if (leaves.slices.empty() || !leaves.tensors.empty()) all_reduce_tensors(op, leaves.tensors, options, call);
  }

  /// The same of memory of GPUs, in place: each replica's `values` lie on the device that is current for it, which is
  /// that of its Device where this is a GPU (gpu_devices).
  ///
  /// Shapes   as many elements of one type on every replica.
  /// Order    that of `stream`, as chorus/device_span.hpp says for all calls on such memory: it may return before the
  ///          reduction is done. `synchronize` waits for it.
  /// Result   as that of chorus::allreduce on such memory. `compression` is not
  ///          applied; `ring` and `mpi` are as `automatic`.
  /// Throws   as above; what the collectives on such memory throw; Error{not_supported} for reproducible sums and
  ///          averages of floating-point numbers over several workers of several replicas.
  template <Element T>
  void all_reduce_in_place(ReduceOp op, DeviceSpan<T> values, Stream stream, const CommunicationOptions& options = {}) {
    all_reduce_on_device(op, {values.data(), values.size(), data_type_of<T>()}, stream, options);
  }
  void all_reduce_on_device(ReduceOp op, const DeviceTensorRef& values, Stream stream,
                            const CommunicationOptions& options = {});
  /// Waits until what is in `stream`, one of this replica's device, is over, and hears meanwhile of failures of what it
  /// has reduced in this run, as chorus::synchronize does: the first replica of a worker, where there are several, of
  /// those between the workers, and of another local replica's only by its limit of time.
  /// Throws   Error{wrong_context} where this thread is not this replica; what that throws.
  void synchronize(Stream stream);

  /// The same of tensors of the host whose types are known at run time. `call`: what it is done for, which is compared,
  /// too; its structure besides the shapes.
  void all_reduce_tensors(ReduceOp op, std::span<const TensorRef> tensors, const CommunicationOptions& options = {},
                          StrategyCall call = {.function = StrategyFunction::all_reduce});
  /// The same, started before they are computed: see OverlappedAllReduce. Null where there is one replica only.
  [[nodiscard]] std::unique_ptr<PendingAllReduce> start_all_reduce_tensors(ReduceOp op,
                                                                           std::span<const TensorRef> tensors,
                                                                           const CommunicationOptions& options = {});
  /// The same of IndexedSlices whose types are known at run time.
  void all_reduce_slices(ReduceOp op, std::span<const SlicesRef> slices, const CommunicationOptions& options = {},
                         StrategyCall call = {.function = StrategyFunction::all_reduce});

  /// Gives every replica the values of all, one after the other along the dimension `axis` (from the last where it is
  /// negative), in the order of the replicas; of a structure of tensors that of each leaf.
  ///
  /// Shapes   tensors with at least one dimension, whose lengths may differ between replicas in `axis` only; the same
  ///          structure on every replica.
  /// Throws   as all_reduce; Error{invalid_argument} on every replica where the shapes do not go together;
  ///          Error{mismatch} where the structures differ; Error{not_supported} for IndexedSlices.
  template <Structure T>
  [[nodiscard]] auto all_gather(const T& value, int axis, const CommunicationOptions& options = {},
                                const CallSite& where = CallSite::here());

  /// Waits until all replicas of this worker have come here, and calls `function(strategy, PerReplica args...)` once,
  /// in the cross-replica context. Each replica gets the result, of a PerReplica or Mirrored one its own component,
  /// also of one inside of a tuple, vector or map; the members of an aggregate come as they are.
  ///
  /// Order    every replica of this worker calls, at the same place of the program.
  /// Throws   Error{wrong_context} where this thread is not this replica; Error{mismatch} on every replica where they
  ///          call at different places, with different functions or types, or where some have ended;
  ///          Error{invalid_argument} where the result has not one component for each local replica; what `function`
  ///          throws, the same object on every replica of this worker.
  template <class Function, class... Args>
  auto merge_call(Function&& function, std::tuple<Args...> args = {}, const CallSite& where = CallSite::here()) {
    return merge_at({"merge_call", where}, function, std::move(args));
  }

 private:
  friend class MultiStepContext;
  friend class OverlappedAllReduce;
  friend class Strategy;
  friend class StrategyExtended;
  /// Throws where an OverlappedAllReduce has been left without a wait.
  void check_waited() const;
  /// Throws where this thread is not this replica.
  void check_here(const char* function) const;
  /// Throws unless a merge_call's function has given a component for each local replica.
  void check_merged(std::size_t components) const;
  /// A merge_call where all replicas have come to `place`, whose timeout is that of all its waits; where its use names
  /// no function, with the same `function` in all of them.
  template <class Function, class... Args>
  auto merge_at(ReplicaGroup::Place place, Function& function, std::tuple<Args...> args);
  /// Replica 0's part of a merge_call: calls `function` with what the visits at `all` have brought.
  template <class Visit, class Function>
  void call_merged(Function& function, Visit& visit, const std::vector<const void*>& all);
  /// Throws on every replica what replica 0 has caught in a merge_call, `failure`; null where there is nothing.
  void end_merge(std::exception_ptr failure, const ReplicaGroup::Place& place) const;
  /// Checks an all_reduce and tells the others of it. The options to do it by; none where there is nobody else.
  [[nodiscard]] std::optional<CommunicationOptions> begin_all_reduce(StrategyCall call, ReduceOp op,
                                                                     std::span<const TensorRef> tensors,
                                                                     const CommunicationOptions& options) const;
  [[nodiscard]] ReplicaGroup& group() const noexcept;
  [[nodiscard]] ReplicaLayout layout() const noexcept;

  Strategy& strategy_;
  int local_replica_;
  int not_waited_for_ = 0;  // OverlappedAllReduces
};

namespace detail {

/// That of `function`, of any arguments.
template <class Function>
[[nodiscard]] ReplicaGroup::Use use_of(const Function& function) {
  const void* code = nullptr;
  if constexpr (std::is_function_v<std::remove_pointer_t<Function>>) {
    code = reinterpret_cast<const void*>(+function);
  }
  return {.function = &typeid(Function), .code = code};
}
/// That of the function in it.
template <class Result, class... Args>
[[nodiscard]] ReplicaGroup::Use use_of(const std::function<Result(Args...)>& function) {
  if (const auto* const pointer = function.template target<Result (*)(Args...)>()) return use_of(*pointer);
  return {.function = &function.target_type()};
}

/// What a replica brings to a merge_call: its arguments, and, replica 0, a place for the result.
template <class ResultOfCall, class... Args>
struct MergeVisit {
  using Result = ResultOfCall;
  using Numbers = std::index_sequence_for<Args...>;
  static constexpr bool returns = !std::is_void_v<Result>;

  std::tuple<Args...>& args;
  std::optional<std::conditional_t<returns, Result, bool>> result = {};

  /// Argument I of the visits at `all`.
  template <std::size_t I>
  [[nodiscard]] static auto merged(const ReplicaLayout& layout, const std::vector<const void*>& all) {
    std::vector<std::tuple_element_t<I, std::tuple<Args...>>> values;
    for (const void* one : all) values.push_back(std::move(std::get<I>(static_cast<const MergeVisit*>(one)->args)));
    return PerReplica(layout, std::move(values));
  }
  template <std::size_t... I>
  [[nodiscard]] static auto all_merged(const ReplicaLayout& layout, const std::vector<const void*>& all,
                                       std::index_sequence<I...> /*numbers*/) {
    return std::tuple(merged<I>(layout, all)...);
  }
};

}  // namespace detail

template <class Visit, class Function>
void ReplicaContext::call_merged(Function& function, Visit& visit, const std::vector<const void*>& all) {
  auto values = [&] {
    const ReplicaGroup::Reading reading(group());
    return Visit::all_merged(layout(), all, typename Visit::Numbers());
  }();
  StrategyContext context = current_context();
  context.replica = nullptr;
  context.cross_replica = true;
  const ContextGuard guard(context);
  const auto invoke = [&](auto&... each) -> decltype(auto) {
    return std::invoke(function, strategy_, std::move(each)...);
  };
  if constexpr (Visit::returns)
    visit.result = std::apply(invoke, values);
  else
    std::apply(invoke, values);
  if constexpr (Visit::returns) {
    detail::for_each_distributed(*visit.result, [&](std::size_t components) { check_merged(components); });
  }
}

template <class Function, class... Args>
auto ReplicaContext::merge_at(ReplicaGroup::Place place, Function& function, std::tuple<Args...> args) {
  check_here("merge_call");
  using Result = std::decay_t<std::invoke_result_t<Function&, Strategy&, PerReplica<Args>...>>;
  using Visit = detail::MergeVisit<Result, Args...>;
  if (place.use.function == nullptr) place.use = detail::use_of(function);
  place.use.types = &typeid(Result(std::tuple<Args...>));
  Visit visit{args};
  const std::vector<const void*> all = group().meet(local_replica_, place, &visit);
  std::exception_ptr failure;
  try {
    if (local_replica_ == 0) call_merged(function, visit, all);
  } catch (...) {
    failure = std::current_exception();
  }
  end_merge(std::move(failure), place);
  if constexpr (Visit::returns) {
    auto mine = [&] {
      const ReplicaGroup::Reading reading(group());
      return detail::component_of(*static_cast<const Visit*>(all.front())->result, local_replica_);
    }();
    group().meet(local_replica_, {"the result of merge_call", place.where, place.timeout});
    return mine;
  }
}

}  // namespace chorus
