// SPDX-License-Identifier: Apache-2.0
#include "warn_once.hpp"

#include <chorus/strategies/cross_device_ops.hpp>

namespace chorus {

void NcclAllReduce::all_reduce_on_device(ReplicaGroup& group, int local_replica, ReduceOp op,
                                         const DeviceTensorRef& values, Stream stream,
                                         const CommunicationOptions& options) {
  CommunicationOptions by_nccl = options;
  by_nccl.implementation = CommunicationImplementation::nccl;
  CrossDeviceOps::all_reduce_on_device(group, local_replica, op, values, stream, by_nccl);
}

void NcclAllReduce::batch_reduce_implementation(ReplicaGroup& group, ReduceOp op,
                                                std::span<const ReplicaTensors> values,
                                                const CommunicationOptions& options) {
  warn_once(group.layout(),
            "NcclAllReduce: tensors of the host do not go by NCCL: they are reduced to one device; CollectiveAllReduce "
            "is faster, and what is in the memory of GPUs is given as DeviceSpans");
  CrossDeviceOps::batch_reduce_implementation(group, op, values, options);
}

}  // namespace chorus
