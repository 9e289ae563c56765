// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/cross_device_ops.hpp>

namespace chorus {

NcclAllReduce::NcclAllReduce() {
  throw Error(ErrorCode::not_built,
              "NcclAllReduce: strategies hold no tensors on GPUs: use CollectiveAllReduce, the default; for memory of "
              "GPUs call chorus::allreduce with DeviceSpans");
}

void NcclAllReduce::batch_reduce_implementation(ReplicaGroup& /*group*/, ReduceOp /*op*/,
                                                std::span<const ReplicaTensors> /*values*/,
                                                const CommunicationOptions& /*options*/) {}

}  // namespace chorus
