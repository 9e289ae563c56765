// SPDX-License-Identifier: Apache-2.0
// Devices without NCCL: the environment names a library that does not exist.
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
    expect_error(
        outcome_of([&] { allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get(), {.algorithm = "nccl"}); }),
        ErrorCode::not_supported, {"nccl"});
  });
}

}  // namespace
}  // namespace chorus::test
