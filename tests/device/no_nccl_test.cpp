// SPDX-License-Identifier: Apache-2.0
// Devices without NCCL: the environment names a library that does not exist, or chorus has been built without it.
#include "device/device_ranks.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace chorus::test {
namespace {

TEST(WithoutNccl, CallsGoThroughTheHostOrWindows) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(std::vector<float>(10, 1)));
    allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
    bcast(comm, memory.span<float>(), 0, stream.get());
    stream.wait();
    EXPECT_EQ(elements<float>(memory), std::vector<float>(10, 3));
    const auto by_nccl = [&] {
      allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get(), {.algorithm = "nccl"});
    };
#if CHORUS_HAS_NCCL
    expect_error(outcome_of(by_nccl), ErrorCode::not_supported,
                 {"allreduce on rank", "rank 0 has no NCCL", "cannot be loaded", "CHORUS_NCCL_LIBRARY"});
#else
    expect_error(outcome_of(by_nccl), ErrorCode::not_built,
                 {"allreduce on rank", "without NCCL", "-Dnccl=enabled"});
#endif
  });
}

}  // namespace
}  // namespace chorus::test
