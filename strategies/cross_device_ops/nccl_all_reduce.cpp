// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/cross_device_ops.hpp>

namespace chorus {

NcclAllReduce::NcclAllReduce() {
  throw Error(ErrorCode::not_built,
              "NcclAllReduce: chorus has been built without NCCL: use CollectiveAllReduce, the default");
}

void NcclAllReduce::batch_reduce_implementation(ReplicaGroup& /*group*/, ReduceOp /*op*/,
                                                std::span<const ReplicaTensors> /*values*/,
                                                const CommunicationOptions& /*options*/) {}

}  // namespace chorus
