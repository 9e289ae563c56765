// SPDX-License-Identifier: Apache-2.0
#include "folding.hpp"
#include "reduction.hpp"

namespace chorus {
namespace {

/// Neighbours first, then those at a distance of 2, 4, ...: with 5 components 0+1, 2+3; 0+2; 0+4.
void fold_in_pairs(const ReplicaTensors& components, ReduceOp op) {
  for (std::size_t distance = 1; distance < components.size(); distance *= 2) {
    for (std::size_t left = 0; left + distance < components.size(); left += 2 * distance) {
      reduce_tensor_into(components[left], components[left + distance], op);
    }
  }
}

}  // namespace

void HierarchicalCopyAllReduce::batch_reduce_implementation(ReplicaGroup& group, ReduceOp op,
                                                            std::span<const ReplicaTensors> values,
                                                            const CommunicationOptions& options) {
  fold_and_reduce(group, op, values, options, fold_in_pairs);
}

}  // namespace chorus
