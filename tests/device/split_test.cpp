// SPDX-License-Identifier: Apache-2.0
// Communicators that are made of one whose ranks NCCL connects, as its double does. That connects ranks of one process
// alone: so there is one rank.

#include "device/double/double.hpp"
#include "device/test_memory.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <nccl.h>

#include <optional>
#include <span>
#include <vector>

namespace chorus::test {
namespace {

class DeviceSplit : public testing::Test {
 protected:
  void SetUp() override {
    check(cuInit(0));
    take_device(0);
    stream_.emplace();
    memory_.emplace(std::as_bytes(std::span(given_)));
    sum(world_);
  }

  /// By NCCL.
  void sum(const Communicator& comm) {
    const std::size_t before = calls("ncclAllReduce").size();
    allreduce(comm, memory_->span<float>(), ReduceOp::sum, stream_->get());
    synchronize(comm, stream_->get());
    EXPECT_EQ(elements<float>(*memory_), given_);
    EXPECT_EQ(calls("ncclAllReduce").size(), before + 1);
  }

  Communicator world_ = Communicator::world().dup();

 private:
  std::vector<float> given_ = std::vector<float>(50, 3);
  std::optional<TestStream> stream_;
  std::optional<DeviceMemory> memory_;
};

TEST_F(DeviceSplit, ConnectsNobodyAnew) {
  const std::size_t connected = calls("ncclCommInitRankConfig").size();
  const std::size_t split = calls("ncclCommSplit").size();
  const Communicator copy = world_.dup();
  sum(copy);
  const std::optional<Communicator> part = copy.split(3);
  ASSERT_TRUE(part.has_value());
  sum(*part);
  const std::vector<int> everybody{0};
  sum(*world_.subset(everybody));
  EXPECT_EQ(calls("ncclCommSplit").size(), split + 3);
  EXPECT_EQ(calls("ncclCommInitRankConfig").size(), connected);
}

TEST_F(DeviceSplit, OfARankWithoutAColorGivesItNothing) {
  const std::size_t split = calls("ncclCommSplit").size();
  EXPECT_FALSE(world_.split(std::nullopt).has_value());
  EXPECT_EQ(calls("ncclCommSplit").size(), split + 1) << "which other ranks wait for";
  sum(world_);
}

TEST_F(DeviceSplit, ThatFailsIsTold) {
  inject({.function = "ncclCommSplit", .result = ncclSystemError});
  try {
    static_cast<void>(world_.dup());
    ADD_FAILURE() << "not told";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::transport) << error.what();
  }
}

}  // namespace
}  // namespace chorus::test
