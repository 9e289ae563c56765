// SPDX-License-Identifier: Apache-2.0
#include "folding.hpp"

namespace chorus {

void ReductionToOneDevice::batch_reduce_implementation(ReplicaGroup& group, ReduceOp op,
                                                       std::span<const ReplicaTensors> values,
                                                       const CommunicationOptions& options) {
  fold_and_reduce(group, op, values, options, fold_in_order);
}

}  // namespace chorus
