// SPDX-License-Identifier: Apache-2.0
#include "folding.hpp"

#include "exact_reduction.hpp"
#include "packs.hpp"
#include "reduction.hpp"
#include "worker_reduction.hpp"

#include <chorus/float16.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace {

struct UnderWay {
  Packed pack;
  std::unique_ptr<WorkerReduction> reduction;
};

/// How many 16-bit numbers of a component are held as float at a time.
constexpr std::size_t floats_at_once = 4096;

/// The operation between the workers. Averages are sums that are divided afterwards; but what is compressed, or has 16
/// bits, is divided before it is rounded, as the sum may then be infinite.
ReduceOp joined_by_workers(ReduceOp op, DataType type, const CommunicationOptions& options) {
  const bool rounded = is_compressed(options, type) || has_16_bits(type);
  return op == ReduceOp::average && !rounded ? ReduceOp::sum : op;
}

/// Adds 16-bit numbers up by `fold` as float, divides the sum and rounds it once, to the first component.
template <class T>
void fold_as_float(const ReplicaTensors& components, Fold fold, int divisor) {
  std::vector<std::vector<float>> floats(components.size(), std::vector<float>(floats_at_once));
  const std::size_t count = components.front().count();
  for (std::size_t first = 0; first < count; first += floats_at_once) {
    const std::size_t length = std::min(floats_at_once, count - first);
    ReplicaTensors pieces;
    for (std::size_t i = 0; i < components.size(); ++i) {
      std::copy_n(reinterpret_cast<const T*>(components[i].data) + first, length, floats[i].begin());
      pieces.push_back(
          {.type = DataType::float32, .shape = {length}, .data = reinterpret_cast<std::byte*>(floats[i].data())});
    }
    fold(pieces, ReduceOp::sum);
    divide_tensor(pieces.front(), divisor);
    std::transform(floats.front().begin(), floats.front().begin() + static_cast<std::ptrdiff_t>(length),
                   reinterpret_cast<T*>(components.front().data) + first, [](float value) { return T(value); });
  }
}

/// Reduces the components to the first one, and divides it by their number where `divides`.
void fold_and_divide(const ReplicaTensors& components, Fold fold, ReduceOp join, bool divides) {
  const DataType type = components.front().type;
  const int divisor = divides ? static_cast<int>(components.size()) : 1;
  if (has_16_bits(type) && join == ReduceOp::sum) {
    if (components.size() == 1) return;
    return type == DataType::float16 ? fold_as_float<float16_t>(components, fold, divisor)
                                     : fold_as_float<bfloat16_t>(components, fold, divisor);
  }
  fold(components, join);
  if (divides) divide_tensor(components.front(), divisor);
}

/// Reduces `tensors` in place over the workers, in packs, the last tensors first.
void reduce_over(const ReplicaGroup& group, ReduceOp op, std::span<const TensorRef> tensors,
                 const CommunicationOptions& options) {
  std::deque<UnderWay> under_way;
  const Packs packs = packs_of(tensors, options, group.shares_memory());
  for (auto pack = packs.rbegin(); pack != packs.rend(); ++pack) {
    UnderWay& next = under_way.emplace_back(UnderWay{Packed(tensors, *pack), {}});
    const TensorRef& tensor = next.pack.tensor();
    next.reduction = start_worker_reduction(group, tensor, joined_by_workers(op, tensor.type, options), options);
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
    const DataType type = components.front().type;
    return (group.workers() != nullptr || has_16_bits(type)) &&
           joined_by_workers(op, type, options) == ReduceOp::average;
  };
  std::vector<TensorRef> folded;
  for (const ReplicaTensors& components : values) {
    if (options.reproducible && join == ReduceOp::sum && can_be_exact(components.front().type)) {
      reduce_exactly(group, components, without_algorithm(collective_options(options)));
    } else {
      fold_and_divide(components, fold, join, divided_before(components));
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
