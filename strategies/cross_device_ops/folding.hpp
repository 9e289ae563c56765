// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/cross_device_ops.hpp>

namespace chorus {

/// Reduces the components to the first one, of this worker's replicas only.
using Fold = void (*)(const ReplicaTensors& components, ReduceOp op);

/// batch_reduce by the thread that calls: folds the local components of each value, reduces the results over the
/// workers, several values at a time, and copies them to every component.
void fold_and_reduce(const ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                     const CommunicationOptions& options, Fold fold);

/// Adds the components up in the order of the replicas.
void fold_in_order(const ReplicaTensors& components, ReduceOp op);

}  // namespace chorus
