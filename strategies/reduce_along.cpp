// SPDX-License-Identifier: Apache-2.0
// Strategy::reduce with axes: each replica's tensor is reduced over them, and what is left over the replicas.
#include "axis_reduction.hpp"
#include "cross_device_ops/reduction.hpp"

#include <chorus/allreduce.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace chorus {
namespace {

using detail::AxisPartial;
using detail::AxisRuns;

/// ExactSums are many times as long as numbers: of a long result only so many are made at once.
constexpr std::size_t most_exact_sums = 1U << 16U;

std::vector<AxisRuns> runs_of(ReduceOp op, std::span<const TensorRef> components, std::span<const int> axes,
                              StorageOrder result_order) {
  std::vector<AxisRuns> runs;
  for (const TensorRef& component : components) {
    detail::check_operation(op, component.type, "Strategy::reduce");
    runs.emplace_back(axes, component, result_order);
  }
  return runs;
}

detail::ReplicaLeaves leaves_of(std::vector<AxisPartial>& partials) {
  detail::ReplicaLeaves leaves;
  leaves.tensors.emplace_back();
  for (AxisPartial& partial : partials) leaves.tensors.front().push_back(partial.tensor());
  leaves.paths = [] { return std::vector<std::string>(1); };
  return leaves;
}

/// The sums of all replicas, rounded once.
void sum_exactly(const ReplicaGroup& group, std::span<const TensorRef> components, std::span<const AxisRuns> runs,
                 std::span<double> results, const CollectiveOptions& options) {
  const Communicator* const workers = group.workers();
  for (std::size_t first = 0; first < results.size(); first += most_exact_sums) {
    std::vector<ExactSum<double>> sums(std::min(most_exact_sums, results.size() - first));
    for (std::size_t i = 0; i < runs.size(); ++i) detail::add_exactly(sums, first, components[i], runs[i]);
    if (workers != nullptr) allreduce(*workers, sums, exact_sum, options);
    std::ranges::transform(sums, results.begin() + static_cast<std::ptrdiff_t>(first),
                           [](const auto& sum) { return sum.value(); });
  }
  if (results.empty()) wait_for_workers(group, options.timeout);
}

}  // namespace

void Strategy::reduce_along(ReduceOp op, std::span<const TensorRef> components, std::span<const int> axes,
                            const detail::AxisResult& result) {
  ReplicaGroup& group = extended_->group();
  const bool averages = op == ReduceOp::average;
  const ReduceOp join = averages ? ReduceOp::sum : op;
  const bool exactly = join == ReduceOp::sum && extended_->communication_options().reproducible &&
                       detail::has_exact_sums(components.front().type);
  const std::vector<AxisRuns> runs = group.ahead([&] { return runs_of(op, components, axes, result.order); });
  std::vector<AxisPartial> partials;
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    counts.push_back(runs[i].joined());
    if (exactly)
      partials.emplace_back(components[i], runs[i]);
    else
      partials.emplace_back(join, components[i], runs[i]);
  }
  const StrategyCall call{.function = StrategyFunction::reduce, .op = op, .dimensions = runs.front().dimensions()};
  group.together([&] {
    const detail::ReplicaLeaves leaves = leaves_of(partials);
    if (!exactly) return extended_->reduce_components(call, join, leaves, {});
    const CommunicationOptions options = extended_->begin_reduction(call, join, leaves, {});
    sum_exactly(group, components, runs, {partials.front().sums(), runs.front().result_count()},
                without_algorithm(collective_options(options)));
  });
  std::optional<std::uint64_t> divisor;
  if (op != ReduceOp::sum) {
    const std::uint64_t elements = reduce_for(call, ReduceOp::sum, PerReplica(layout(), std::move(counts)));
    if (elements == 0 && !averages) detail::reject_no_elements(op);
    if (averages) divisor = elements;
  }
  partials.front().put(result.make(runs.front().shape()), divisor);
}

}  // namespace chorus
