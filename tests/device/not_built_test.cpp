// SPDX-License-Identifier: Apache-2.0
// Calls on device memory where the library cannot carry them out: built without CUDA, or on a machine without driver.
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace chorus::test {
namespace {

TEST(WithoutDevices, CallsSayWhatIsMissing) {
  const std::vector<Communicator> alone = thread_communicators(1);
  std::vector<float> host(3, 1);
  const DeviceSpan<float> data(host.data(), host.size());
  const Outcome outcome = outcome_of([&] { allreduce(alone[0], data, ReduceOp::sum, Stream()); });
#if CHORUS_HAS_CUDA
  expect_error(outcome, ErrorCode::not_supported, {"allreduce on rank 0", "cannot be loaded", "CHORUS_CUDA_LIBRARY"});
#else
  expect_error(outcome, ErrorCode::not_built, {"allreduce on rank 0", "without CUDA", "-Dcuda=enabled"});
#endif
  EXPECT_TRUE(local_gpus().empty());
  for (const Outcome& none : {outcome_of([] { static_cast<void>(gpu_devices()); }),
                              outcome_of([] { static_cast<void>(Device::parse("/gpu:0")); })}) {
    expect_error(none, ErrorCode::not_supported, {"this process can use no GPU: "});
  }
  EXPECT_FALSE(nearest_gpu(alone[0]));
  allreduce(alone[0], host, ReduceOp::sum);
  EXPECT_EQ(host, std::vector<float>(3, 1)) << "calls on memory of the host go on";
}

}  // namespace
}  // namespace chorus::test
