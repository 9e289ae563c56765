// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/cross_device_ops.hpp>

#include <span>

namespace chorus::test {

/// Counts how often whole tensors are reduced, and does it.
class Counting final : public CrossDeviceOps {
 public:
  explicit Counting(int& calls) : calls_(calls) {}

 protected:
  void batch_reduce_implementation(ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                                   const CommunicationOptions& options) override {
    ++calls_;
    ops_.batch_reduce(group, op, values, options);
  }

 private:
  int& calls_;
  ReductionToOneDevice ops_;
};

}  // namespace chorus::test
