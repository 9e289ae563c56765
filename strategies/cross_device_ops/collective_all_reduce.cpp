// SPDX-License-Identifier: Apache-2.0
#include "exact_reduction.hpp"
#include "folding.hpp"
#include "packs.hpp"
#include "reduction.hpp"

#include <chorus/strategies/cross_device_ops.hpp>

#include <deque>

namespace chorus {
namespace {

/// A pack on its way through the replicas and the workers.
struct UnderWay {
  Packed pack;
  Request between_workers;
};

/// Where each worker has several replicas, sums of sums are rounded twice.
bool must_be_exact(const ReplicaGroup& group, ReduceOp op, DataType type, const CommunicationOptions& options) {
  const bool sums = op == ReduceOp::sum || op == ReduceOp::average;
  return options.reproducible && sums && can_be_exact(type) && group.layout().local_replicas > 1 &&
         group.workers() != nullptr;
}

void reduce_packs(const ReplicaGroup& group, int local_replica, ReduceOp op, std::span<const TensorRef> values,
                  const CommunicationOptions& options) {
  const ReplicaLayout layout = group.layout();
  const CollectiveOptions collective = collective_options(options);
  const ReduceOp join = options.reproducible && op == ReduceOp::average ? ReduceOp::sum : op;
  std::deque<UnderWay> under_way;
  const Packs packs = packs_of(values, options.bytes_per_pack);
  for (auto pack = packs.rbegin(); pack != packs.rend(); ++pack) {
    UnderWay& next = under_way.emplace_back(UnderWay{Packed(values, *pack), {}});
    const TensorRef& tensor = next.pack.tensor();
    if (must_be_exact(group, op, tensor.type, options)) {
      all_reduce_exactly(group, local_replica, tensor, without_algorithm(collective));
      continue;
    }
    if (layout.local_replicas > 1)
      all_reduce_tensor(group.local(local_replica), tensor, join, local_collective_options(options));
    if (group.workers() != nullptr && local_replica == 0) {
      next.between_workers = start_all_reduce_tensor(*group.workers(), tensor, join, collective);
    }
  }
  for (UnderWay& each : under_way) {
    const TensorRef& tensor = each.pack.tensor();
    if (group.workers() != nullptr && !must_be_exact(group, op, tensor.type, options)) {
      if (local_replica == 0) each.between_workers.wait();
      if (layout.local_replicas > 1) broadcast_tensor(group.local(local_replica), tensor, collective);
    }
    if (join != op) divide_tensor(tensor, layout.replicas());
    each.pack.unpack();
  }
}

}  // namespace

void CollectiveAllReduce::all_reduce(ReplicaGroup& group, int local_replica, ReduceOp op,
                                     std::span<const TensorRef> values, const CommunicationOptions& options) {
  group.collectively([&] { reduce_packs(group, local_replica, op, values, options); });
}

void CollectiveAllReduce::batch_reduce_implementation(ReplicaGroup& group, ReduceOp op,
                                                      std::span<const ReplicaTensors> values,
                                                      const CommunicationOptions& options) {
  fold_and_reduce(group, op, values, options, fold_in_order);
}

}  // namespace chorus
