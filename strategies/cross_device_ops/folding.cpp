// SPDX-License-Identifier: Apache-2.0
#include "folding.hpp"

#include "exact_reduction.hpp"
#include "packs.hpp"
#include "reduction.hpp"
#include "worker_reduction.hpp"

#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>

namespace chorus {
namespace {

struct UnderWay {
  Packed pack;
  std::unique_ptr<WorkerReduction> reduction;
};

/// The operation between the workers. Averages are sums that are divided afterwards; but what is compressed is divided
/// before it is rounded, as the sum may then be infinite.
ReduceOp joined_by(ReduceOp op, DataType type, const CommunicationOptions& options) {
  return op == ReduceOp::average && !is_compressed(options, type) ? ReduceOp::sum : op;
}

/// Reduces `tensors` in place over the workers, in packs, the last tensors first.
void reduce_over(const ReplicaGroup& group, ReduceOp op, std::span<const TensorRef> tensors,
                 const CommunicationOptions& options) {
  std::deque<UnderWay> under_way;
  const Packs packs = packs_of(tensors, options, group.shares_memory());
  for (auto pack = packs.rbegin(); pack != packs.rend(); ++pack) {
    UnderWay& next = under_way.emplace_back(UnderWay{Packed(tensors, *pack), {}});
    const TensorRef& tensor = next.pack.tensor();
    next.reduction = start_worker_reduction(group, tensor, joined_by(op, tensor.type, options), options);
  }
  for (UnderWay& each : under_way) each.reduction->go_on();
  for (UnderWay& each : under_way) {
    each.reduction->wait();
    each.pack.unpack();
  }
}

}  // namespace

void fold_in_order(const ReplicaTensors& components, ReduceOp op) {
  for (const TensorRef& component : std::span(components).subspan(1)) {
    reduce_tensor_into(components.front(), component, op);
  }
}

void fold_and_reduce(const ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                     const CommunicationOptions& options, Fold fold) {
  const ReduceOp join = op == ReduceOp::average ? ReduceOp::sum : op;
  const auto divided_before = [&](const ReplicaTensors& components) {
    return group.workers() != nullptr && joined_by(op, components.front().type, options) == ReduceOp::average;
  };
  std::vector<TensorRef> folded;
  for (const ReplicaTensors& components : values) {
    if (options.reproducible && join == ReduceOp::sum && can_be_exact(components.front().type)) {
      reduce_exactly(group, components, without_algorithm(collective_options(options)));
    } else {
      fold(components, join);
      if (divided_before(components)) divide_tensor(components.front(), group.layout().local_replicas);
      folded.push_back(components.front());
    }
  }
  if (group.workers() != nullptr) reduce_over(group, op, folded, options);
  for (const ReplicaTensors& components : values) {
    const TensorRef& first = components.front();
    if (join != op && !divided_before(components)) divide_tensor(first, group.layout().replicas());
    for (const TensorRef& component : std::span(components).subspan(1)) {
      if (component.bytes() != 0) std::memcpy(component.data, first.data, component.bytes());
    }
  }
}

}  // namespace chorus
