// SPDX-License-Identifier: Apache-2.0
// Replicas of a strategy on the machine's GPUs.
#include "device/test_memory.hpp"

#include <chorus/gpu.hpp>
#include <chorus/strategies/mirrored_strategy.hpp>
#include <chorus/strategies/replica_context.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace chorus::test {
namespace {

using Numbers = std::vector<double>;

TEST(Replicas, RunOnEveryGpuAndReduceThere) {
  MirroredStrategy strategy(gpu_devices());
  const int replicas = strategy.num_replicas_in_sync();
  const auto sums = strategy.run([] {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(Numbers(1000, get_replica_context()->replica_id_in_sync_group() + 1.0)));
    get_replica_context()->all_reduce_in_place(ReduceOp::sum, memory.span<double>(), stream.get());
    get_replica_context()->synchronize(stream.get());
    return elements<double>(memory);
  });
  for (const Numbers& sum : sums.values()) EXPECT_EQ(sum, Numbers(1000, replicas * (replicas + 1) / 2.0));
}

}  // namespace
}  // namespace chorus::test
