// SPDX-License-Identifier: Apache-2.0
#include "packed_all_reduce.hpp"

#include <chorus/strategies/cross_device_ops.hpp>

#include <memory>

namespace chorus {

void CollectiveAllReduce::all_reduce(ReplicaGroup& group, int local_replica, ReduceOp op,
                                     std::span<const TensorRef> values, const CommunicationOptions& options) {
  PackedAllReduce(group, local_replica, op, values, options, PackedAllReduce::Start::at_once).wait();
}

std::unique_ptr<PendingAllReduce> CollectiveAllReduce::start_all_reduce(ReplicaGroup& group, int local_replica,
                                                                        ReduceOp op, std::span<const TensorRef> values,
                                                                        const CommunicationOptions& options) {
  return std::make_unique<PackedAllReduce>(group, local_replica, op, values, options,
                                           PackedAllReduce::Start::as_tensors_are_ready);
}

}  // namespace chorus
