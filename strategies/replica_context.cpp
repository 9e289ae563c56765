// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/replica_context.hpp>

#include "call_shapes.hpp"
#include "sparse/slices_reduction.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>

namespace chorus {
namespace {

constexpr std::uint64_t on_device = 0x6770750000000001;  // the structure of what lies in the memory of a GPU

}  // namespace

int ReplicaContext::num_replicas_in_sync() const noexcept { return layout().replicas(); }

int ReplicaContext::replica_id_in_sync_group() const noexcept { return layout().first_replica() + local_replica_; }

const Device& ReplicaContext::device() const {
  return strategy_.extended().worker_devices()[static_cast<std::size_t>(local_replica_)];
}

ReplicaGroup& ReplicaContext::group() const noexcept { return strategy_.extended().group(); }

ReplicaLayout ReplicaContext::layout() const noexcept { return group().layout(); }

void ReplicaContext::check_here(const char* function) const {
  if (get_replica_context() == this) return;
  throw Error(
      ErrorCode::wrong_context,
      fmt::format("ReplicaContext::{}: called by a thread that is not replica {} of the {} strategy: call it in "
                  "the function given to run, on get_replica_context()",
                  function, replica_id_in_sync_group(), strategy_.name()));
}

void ReplicaContext::check_waited() const {
  if (not_waited_for_ == 0) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("OverlappedAllReduce: replica {} has left one without calling wait, so that its values are not "
                  "reduced: call wait before it ends",
                  replica_id_in_sync_group()));
}

void ReplicaContext::check_merged(std::size_t components) const {
  strategy_.extended().check_components(components, "ReplicaContext::merge_call");
}

void ReplicaContext::end_merge(std::exception_ptr failure, const ReplicaGroup::Place& place) const {
  const void* const mine = failure != nullptr ? &failure : nullptr;
  const auto ends = group().meet(local_replica_, {"the end of merge_call", place.where, place.timeout}, mine);
  if (ends.front() == nullptr) return;
  if (local_replica_ != 0) {  // the others copy replica 0's
    const ReplicaGroup::Reading reading(group());
    failure = *static_cast<const std::exception_ptr*>(ends.front());
  }
  group().meet(local_replica_, {"the failure of merge_call", place.where, place.timeout});
  std::rethrow_exception(failure);
}

std::optional<CommunicationOptions> ReplicaContext::begin_all_reduce(StrategyCall call, ReduceOp op,
                                                                     std::span<const TensorRef> tensors,
                                                                     const CommunicationOptions& options) const {
  check_here("all_reduce");
  for (const TensorRef& tensor : tensors) detail::check_operation(op, tensor.type, "ReplicaContext::all_reduce");
  const CommunicationOptions merged = strategy_.extended().options_of_call(options);
  if (num_replicas_in_sync() == 1) return std::nullopt;
  call.op = op;
  detail::set_shapes(call, tensors);
  group().come_to(local_replica_, call);
  return merged;
}

void ReplicaContext::all_reduce_tensors(ReduceOp op, std::span<const TensorRef> tensors,
                                        const CommunicationOptions& options, StrategyCall call) {
  const auto merged = begin_all_reduce(call, op, tensors, options);
  if (merged) strategy_.extended().cross_device_ops().all_reduce(group(), local_replica_, op, tensors, *merged);
}

void ReplicaContext::all_reduce_on_device(ReduceOp op, const DeviceTensorRef& values, Stream stream,
                                          const CommunicationOptions& options) {
  const std::array shape{TensorRef{.type = values.type, .shape = {values.count}}};
  const auto merged =
      begin_all_reduce({.function = StrategyFunction::all_reduce, .structure = on_device}, op, shape, options);
  if (!merged) return;
  strategy_.extended().cross_device_ops().all_reduce_on_device(group(), local_replica_, op, values, stream, *merged);
}

void ReplicaContext::synchronize(Stream stream) {
  check_here("synchronize");
  const ReplicaLayout replicas = layout();
  if (replicas.workers > 1 && local_replica_ == 0) chorus::synchronize(*group().workers(), stream);
  if (replicas.local_replicas > 1) chorus::synchronize(group().local(local_replica_), stream);
  chorus::synchronize(stream);  // what was put there before this run, or by the program alone
}

std::unique_ptr<PendingAllReduce> ReplicaContext::start_all_reduce_tensors(ReduceOp op,
                                                                           std::span<const TensorRef> tensors,
                                                                           const CommunicationOptions& options) {
  const auto merged = begin_all_reduce({.function = StrategyFunction::all_reduce}, op, tensors, options);
  if (!merged) return nullptr;
  return strategy_.extended().cross_device_ops().start_all_reduce(group(), local_replica_, op, tensors, *merged);
}

void ReplicaContext::all_reduce_slices(ReduceOp op, std::span<const SlicesRef> slices,
                                       const CommunicationOptions& options, StrategyCall call) {
  check_here("all_reduce");
  StrategyExtended& extended = strategy_.extended();
  call.op = op;
  group().come_to(local_replica_, call);
  chorus::all_reduce_slices(group(), local_replica_, extended.cross_device_ops(), op, Duplicates::summed, slices,
                            extended.options_of_call(options));
}

}  // namespace chorus
