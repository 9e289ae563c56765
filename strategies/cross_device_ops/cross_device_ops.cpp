// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/cross_device_ops.hpp>

#include "folding.hpp"
#include "unequal_shapes.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

namespace chorus {
namespace {

/// The number among all replicas of this worker's `local_replica`.
std::size_t number_of(const ReplicaGroup& group, std::size_t local_replica) {
  return static_cast<std::size_t>(group.layout().first_replica()) + local_replica;
}

void check_equal_numbers(const ReplicaGroup& group, std::size_t of_first, std::size_t replica, std::size_t of_replica) {
  if (of_first == of_replica) return;
  throw Error(ErrorCode::mismatch,
              fmt::format("all_reduce: replica {} gives {} tensors, replica {} {}: give as many on every replica",
                          number_of(group, replica), of_replica, number_of(group, 0), of_first));
}

class AtTheEnd final : public PendingAllReduce {
 public:
  explicit AtTheEnd(std::function<void()> all_reduce) : all_reduce_(std::move(all_reduce)) {}
  void ready(std::size_t /*number*/) override {}
  void wait() override { all_reduce_(); }

 private:
  std::function<void()> all_reduce_;
};

}  // namespace

std::unique_ptr<PendingAllReduce> CrossDeviceOps::start_all_reduce(ReplicaGroup& group, int local_replica, ReduceOp op,
                                                                   std::span<const TensorRef> values,
                                                                   const CommunicationOptions& options) {
  return std::make_unique<AtTheEnd>([=, this, &group] { all_reduce(group, local_replica, op, values, options); });
}

void CrossDeviceOps::batch_reduce(ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                                  const CommunicationOptions& options) {
  const auto replicas = static_cast<std::size_t>(group.layout().local_replicas);
  for (const ReplicaTensors& value : values) {
    if (value.size() != replicas) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("CrossDeviceOps::batch_reduce: {} components of {} local replicas: give one of each",
                              value.size(), replicas));
    }
    for (const TensorRef& component : value) {
      if (component.type == value.front().type && component.shape == value.front().shape) continue;
      detail::reject_unequal("CrossDeviceOps::batch_reduce", {number_of(group, 0), value.front()},
                             {number_of(group, static_cast<std::size_t>(&component - value.data())), component});
    }
  }
  if (!values.empty()) batch_reduce_implementation(group, op, values, options);
}

void CrossDeviceOps::batch_reduce_implementation(ReplicaGroup& group, ReduceOp op,
                                                 std::span<const ReplicaTensors> values,
                                                 const CommunicationOptions& options) {
  fold_and_reduce(group, op, values, options, fold_in_order);
}

void CrossDeviceOps::all_reduce(ReplicaGroup& group, int local_replica, ReduceOp op, std::span<const TensorRef> values,
                                const CommunicationOptions& options) {
  const std::vector<const void*> all = group.meet(local_replica, {"all_reduce", {}, options.timeout, true}, &values);
  if (local_replica == 0) {
    const ReplicaGroup::Reading reading(group);
    std::vector<ReplicaTensors> components(values.size());
    for (std::size_t replica = 0; replica < all.size(); ++replica) {
      const auto& theirs = *static_cast<const std::span<const TensorRef>*>(all[replica]);
      check_equal_numbers(group, values.size(), replica, theirs.size());
      for (std::size_t i = 0; i < values.size(); ++i) components[i].push_back(theirs[i]);
    }
    batch_reduce(group, op, components, options);
  }
  group.meet(local_replica, {"the end of all_reduce", {}, options.timeout, true});
}

}  // namespace chorus
