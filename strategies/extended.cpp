// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/extended.hpp>

#include "call_shapes.hpp"
#include "cross_device_ops/reduction.hpp"
#include "other_strategy.hpp"
#include "sparse/slices_reduction.hpp"
#include "unequal_shapes.hpp"
#include "usable_parts.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/startup_line.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/thread_communicators.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>

namespace chorus {
namespace {

/// Throws where a device is named twice or this process may not run on it, or the options want what is not there.
StrategyParts checked(StrategyParts parts) {
  check_usable(parts.communication_options);
  check_named_once(parts.name, parts.worker_devices);
  const bool alone = !parts.workers && !parts.anywhere;
  if (alone) std::ignore = thread_communicators(1);  // throws where a variable of the environment is wrong
  if (!parts.anywhere) {
    check_may_run_on(parts.worker_devices);
    check_may_run_on(parts.parameter_devices);
  }
  if (parts.parameter_devices.empty()) parts.parameter_devices = parts.worker_devices;
  if (!parts.cross_device_ops) parts.cross_device_ops = std::make_unique<CollectiveAllReduce>();
  return parts;
}

/// Throws where the components of a tensor differ in shape.
void check_equal_shapes(const detail::ReplicaLeaves& values, const char* function, int first_replica) {
  for (std::size_t leaf = 0; leaf < values.tensors.size(); ++leaf) {
    const ReplicaTensors& value = values.tensors[leaf];
    const auto has_other_shape = [&](const TensorRef& component) { return component.shape != value.front().shape; };
    const auto other = std::ranges::find_if(value, has_other_shape);
    if (other == value.end()) continue;
    const std::string path = values.paths()[leaf];
    const auto first = static_cast<std::size_t>(first_replica);
    detail::reject_unequal(path.empty() ? function : fmt::format("{} of {}", function, path), {first, value.front()},
                           {first + static_cast<std::size_t>(other - value.begin()), *other});
  }
}

/// True where a reduction need wait for nobody.
bool has_no_elements(const detail::ReplicaLeaves& values) {
  const auto is_empty = [](const ReplicaTensors& value) { return value.front().count() == 0; };
  return values.slices.empty() && std::ranges::all_of(values.tensors, is_empty);
}

}  // namespace

StrategyExtended::StrategyExtended(StrategyParts parts)
    : parts_(checked(std::move(parts))),
      group_(
          std::make_shared<ReplicaGroup>(parts_.worker_devices, parts_.workers, parts_.communication_options.timeout)) {
  if (parts_.workers || parts_.anywhere) return;
  if (const std::string line = alone_line(parts_.name); !line.empty()) fmt::print(stderr, "{}\n", line);
}

StrategyExtended::~StrategyExtended() = default;

CommunicationOptions StrategyExtended::communication_options() const noexcept {
  const StrategyContext& context = current_context();
  const bool in_run = context.strategy == strategy_ && context.options != nullptr;
  return in_run ? parts_.communication_options.merge(*context.options) : parts_.communication_options;
}

void StrategyExtended::check_placed(const char* function) const {
  if (!parts_.anywhere) return;
  throw Error(ErrorCode::wrong_context,
              fmt::format("{}: the default strategy has no devices: call it on another one", function));
}

std::span<const Device> StrategyExtended::worker_devices() const {
  check_placed("StrategyExtended::worker_devices");
  return parts_.worker_devices;
}

std::span<const Device> StrategyExtended::parameter_devices() const {
  check_placed("StrategyExtended::parameter_devices");
  return parts_.parameter_devices;
}

CommunicationOptions StrategyExtended::options_of_call(const CommunicationOptions& options) const {
  const CommunicationOptions merged = communication_options().merge(options);
  check_usable(merged);
  if (merged.reproducible && merged.compression != Compression::none) {
    throw Error(ErrorCode::invalid_argument,
                "CommunicationOptions: reproducible and compression contradict each other: what is rounded on its way "
                "depends on the number of workers; leave one of them out");
  }
  return merged;
}

CommunicationOptions StrategyExtended::begin_reduction(StrategyCall call, ReduceOp op,
                                                       const detail::ReplicaLeaves& values,
                                                       const CommunicationOptions& options) {
  call.structure = values.structure;
  if (group_->layout().replicas() > 1 && values.structure != 0 && values.paths &&
      !detail::knows_parts(values.structure)) {
    detail::remember_parts(values.structure, values.paths());
  }
  for (const ReplicaTensors& value : values.tensors) {
    detail::check_operation(op, value.front().type, call.name());
    check_components(value.size(), call.name());
  }
  for (const ReplicaSlices& value : values.slices) check_components(value.size(), call.name());
  check_equal_shapes(values, call.name(), group_->layout().first_replica());
  const CommunicationOptions merged = options_of_call(options);
  detail::set_shapes(
      call, values.tensors, [](const ReplicaTensors& value) -> const auto& { return value.front(); });
  group_->announce(call);
  return merged;
}

void StrategyExtended::reduce_components(const StrategyCall& call, ReduceOp op, const detail::ReplicaLeaves& values,
                                         const CommunicationOptions& options) {
  const CommunicationOptions merged = begin_reduction(call, op, values, options);
  if (!values.slices.empty()) reduce_slices(*group_, *parts_.cross_device_ops, op, values.slices, merged);
  if (group_->layout().replicas() == 1) return;
  parts_.cross_device_ops->batch_reduce(*group_, op, values.tensors, merged);
  if (has_no_elements(values)) wait_for_workers(*group_, merged.timeout);
}

void StrategyExtended::check_components(std::size_t components, const char* function) const {
  const auto replicas = static_cast<std::size_t>(group_->layout().local_replicas);
  if (components == replicas) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: {} components of {} local replicas: give a value of this strategy's replicas", function,
                          components, replicas));
}

void StrategyExtended::check_entry(const char* function, const std::string& instead) const {
  const StrategyContext& context = current_context();
  if (context.replica != nullptr) {
    throw Error(ErrorCode::wrong_context,
                fmt::format("{}: called in a replica of the {} strategy, but needs the cross-replica context: {}",
                            function, context.replica->strategy().name(), instead));
  }
  const Strategy& current = get_strategy();
  const bool outside = context.strategy == nullptr && !context.scoped;
  if (&current == strategy_ || outside) return;
  throw Error(
      ErrorCode::wrong_context,
      fmt::format("{}: mixing different strategy objects: {} is used in the scope of {}: leave that scope first",
                  function, the(*strategy_), beside(*strategy_, current)));
}

void StrategyExtended::check_cross_replica(const char* function) const {
  check_entry(function, "call it outside of run, or in the function of a merge_call");
}

void StrategyExtended::check_update(const char* function) const {
  const ReplicaContext* const replica = current_context().replica;
  if (replica == nullptr || &replica->strategy() != strategy_) check_cross_replica(function);
}

StrategyContext StrategyExtended::update_context(int component) const {
  StrategyContext context = current_context();
  if (!anywhere()) context.strategy = strategy_;
  context.scoped = true;
  context.cross_replica = true;
  context.update_replica = component;
  return context;
}

void StrategyExtended::broadcast(const TensorRef& tensor) {
  StrategyCall call{.function = StrategyFunction::broadcast_to};
  detail::set_shapes(call, std::span(&tensor, 1));
  group_->announce(call);
  broadcast_of_first(*group_, tensor, communication_options());
}

void StrategyExtended::check_non_slot(const NonSlotDevices& where) const {
  const bool all_here = std::ranges::all_of(where.devices, [&](const Device& device) {
    return std::ranges::find(parts_.parameter_devices, device) != parts_.parameter_devices.end();
  });
  if (anywhere() ? where.devices.empty() : all_here && !where.devices.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("StrategyExtended::update_non_slot: the devices are not where variables of the {} strategy "
                          "lie: give what its non_slot_devices returns",
                          parts_.name));
}

void StrategyExtended::check_iterations(int iterations) {
  if (iterations >= 0) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("StrategyExtended::run_steps: {} iterations: give 0 or more", iterations));
}

void StrategyExtended::set_loss_reduction(ReduceOp op) {
  check_cross_replica("StrategyExtended::set_loss_reduction");
  group_->ahead([&] {
    if (op == ReduceOp::sum || op == ReduceOp::average) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("StrategyExtended::set_loss_reduction: losses are not joined by {}: give sum or average",
                            chorus::name(op)));
  });
  loss_reduction_ = op;
}

void StrategyExtended::check_owner(const char* function, const std::string& variable, const Strategy& owner) const {
  if (&owner == strategy_) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{}: called on {} with the variable \"{}\", which belongs to {}: make it in the scope of this one",
                  function, the(*strategy_), variable, beside(*strategy_, owner)));
}

}  // namespace chorus
