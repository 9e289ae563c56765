// SPDX-License-Identifier: Apache-2.0
// Strategies whose replicas run on GPUs of one process.
#include "gpus/gpus.hpp"

#include <chorus/strategies/one_device_strategy.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Replicas on the first GPUs; expects that the doubles have seen no fault.
class OnGpus : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    clear();
    set_delay(std::chrono::microseconds(20));
  }
  void TearDown() override { EXPECT_THAT(faults(), IsEmpty()); }

  [[nodiscard]] static MirroredStrategy mirrored(std::unique_ptr<CrossDeviceOps> ops = nullptr,
                                                 const CommunicationOptions& options = {}) {
    std::vector<Device> gpus = gpu_devices();
    gpus.resize(static_cast<std::size_t>(GetParam()), gpus.front());
    return MirroredStrategy(std::move(gpus), std::move(ops), options);
  }
  /// 1 + 2 + ... of all replicas.
  [[nodiscard]] static float sum() { return static_cast<float>(GetParam() * (GetParam() + 1)) / 2; }
  [[nodiscard]] static std::vector<float> mine() { return std::vector<float>(1000, static_cast<float>(id() + 1)); }
};

TEST_P(OnGpus, EachReplicaHasAGpuOfItsOwn) {
  MirroredStrategy strategy = mirrored();
  const auto gpus = strategy.run([] {
    EXPECT_EQ(get_replica_context()->device().name(), "/gpu:" + std::to_string(id()));
    return current_gpu();
  });
  EXPECT_THAT(gpus.values(), testing::ElementsAreArray(list_of(GetParam(), [](int i) { return i; })));
  EXPECT_EQ(current_gpu(), -1) << "the thread that called has what it had";
}

TEST_P(OnGpus, MemoryOfGpusIsReducedByNccl) {
  MirroredStrategy strategy = mirrored();
  for (const auto& [op, expected] : {std::pair(ReduceOp::sum, sum()),
                                     {ReduceOp::average, sum() / static_cast<float>(GetParam())},
                                     {ReduceOp::min, 1.0F},
                                     {ReduceOp::max, static_cast<float>(GetParam())}}) {
    const auto reduced = strategy.run([&, op = op] { return all_reduced(op, mine()); });
    EXPECT_THAT(reduced.values(), Each(Each(expected))) << name(op);
  }
  EXPECT_EQ(calls("ncclAllReduce").size(), GetParam() == 1 ? 0U : 4U * static_cast<std::size_t>(GetParam()));
}

TEST_P(OnGpus, ManyReductionsFollowOneAnotherInAStream) {
  MirroredStrategy strategy = mirrored(std::make_unique<NcclAllReduce>());
  const auto last = strategy.run([] {
    const TestStream stream;
    const DeviceMemory ones(bytes_of_all(std::vector<std::int32_t>(10, 1)));
    for (int time = 0; time < 5; ++time) {
      get_replica_context()->all_reduce_in_place(ReduceOp::sum, ones.span<std::int32_t>(), stream.get());
    }
    get_replica_context()->synchronize(stream.get());
    return elements<std::int32_t>(ones);
  });
  std::int32_t expected = 1;
  for (int time = 0; time < 5; ++time) expected *= GetParam();
  EXPECT_THAT(last.values(), Each(Each(expected)));
}

TEST_P(OnGpus, SynchronizingWaitsForWhatTheProgramHasPutThere) {
  set_delay(std::chrono::milliseconds(20));
  MirroredStrategy strategy = mirrored();
  const auto copies = strategy.run([] { return copied_before_synchronize(); });
  EXPECT_THAT(copies.values(), Each(Each(7)));
}

TEST_P(OnGpus, TensorsOfTheHostAreReducedAsEverywhere) {
  MirroredStrategy strategy = mirrored();
  const auto sums = strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, mine()); });
  EXPECT_THAT(sums.values(), Each(Each(sum())));
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, strategy.run([] { return id() + 1.0F; })), sum());
  EXPECT_THAT(calls("ncclAllReduce"), IsEmpty());
}

TEST_P(OnGpus, ReproducibleSumsGoByTheHost) {
  MirroredStrategy strategy = mirrored(nullptr, {.reproducible = true});
  const auto sums = strategy.run([] { return all_reduced(ReduceOp::sum, mine()); });
  EXPECT_THAT(sums.values(), Each(Each(sum())));
  EXPECT_THAT(calls("ncclAllReduce"), IsEmpty());
}

TEST_P(OnGpus, WhatNcclHasNotIsRefusedWhereItIsAskedFor) {
  if (GetParam() == 1) return;
  MirroredStrategy strategy = mirrored(std::make_unique<NcclAllReduce>());
  expect_error(ErrorCode::not_supported, "nccl", [&] {
    strategy.run([] { std::ignore = all_reduced(ReduceOp::sum, std::vector<std::int16_t>(3, 1)); });
  });
  const auto sums = strategy.run([] { return all_reduced(ReduceOp::sum, mine()); });
  EXPECT_THAT(sums.values(), Each(Each(sum()))) << "the strategy works again";
}

TEST_P(OnGpus, DifferentLengthsAreAMismatch) {
  if (GetParam() == 1) return;
  MirroredStrategy strategy = mirrored();
  expect_error(ErrorCode::mismatch, "all_reduce", [&] {
    strategy.run([] {
      const std::size_t length = id() == 0 ? 3 : 4;
      std::ignore = all_reduced(ReduceOp::sum, std::vector<float>(length, 1));
    });
  });
  const auto sums = strategy.run([] { return all_reduced(ReduceOp::sum, mine()); });
  EXPECT_THAT(sums.values(), Each(Each(sum())));
}

TEST_P(OnGpus, MemoryOfTheHostIsRefused) {
  if (GetParam() == 1) return;
  MirroredStrategy strategy = mirrored();
  expect_error(ErrorCode::invalid_argument, "no memory of a device", [&] {
    strategy.run([] {
      std::vector<float> host = mine();
      get_replica_context()->all_reduce_in_place(ReduceOp::sum, DeviceSpan<float>(host.data(), host.size()), Stream());
    });
  });
}

TEST_P(OnGpus, AReplicaThatFailsIsToldToThoseThatWait) {
  if (GetParam() == 1) return;
  MirroredStrategy strategy = mirrored();
  EXPECT_THROW(strategy.run([] {
    if (id() == 1) throw std::runtime_error("replica 1 fails");
    std::ignore = all_reduced(ReduceOp::sum, mine());
  }),
               std::runtime_error);
  const auto sums = strategy.run([] { return all_reduced(ReduceOp::sum, mine()); });
  EXPECT_THAT(sums.values(), Each(Each(sum())));
}

INSTANTIATE_TEST_SUITE_P(Gpus, OnGpus, testing::Values(1, 2, 3, 8));

TEST(Gpus, AreDevicesByName) {
  clear();
  const std::vector<Device> all = gpu_devices();
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[5].name(), "/gpu:5");
  EXPECT_EQ(all[5].kind(), Device::Kind::gpu);
  EXPECT_EQ(Device::parse("/gpu:5"), all[5]);
  expect_error(ErrorCode::invalid_argument, "of GPUs it may be one of /gpu:0-7",
               [] { std::ignore = Device::parse("/gpu:8"); });
  expect_error(ErrorCode::invalid_argument, "/gpu:0-7", [] { std::ignore = Device::parse("/gpu:one"); });
}

TEST(Gpus, AreCurrentWithinAScopeAlone) {
  clear();
  EXPECT_EQ(current_gpu(), -1);
  {
    const CurrentGpu outer(3);
    EXPECT_EQ(current_gpu(), 3);
    {
      const CurrentGpu inner(1);
      EXPECT_EQ(current_gpu(), 1);
    }
    EXPECT_EQ(current_gpu(), 3);
  }
  EXPECT_EQ(current_gpu(), -1);
  expect_error(ErrorCode::invalid_argument, "argument ordinal is 8, but this process can use 8 GPUs",
               [] { const CurrentGpu none(8); });
  expect_error(ErrorCode::invalid_argument, "argument ordinal is -1", [] { const CurrentGpu none(-1); });
}

TEST(Gpus, OneDeviceStrategyRunsOnOne) {
  clear();
  OneDeviceStrategy strategy(Device::parse("/gpu:2"));
  EXPECT_EQ(strategy.run([] { return current_gpu(); })[0], 2);
}

TEST(Gpus, ThatAreNotThereAreRefused) {
  clear();
  const Device ninth(Device::Kind::gpu, 8, {0});
  expect_error(ErrorCode::invalid_argument, "argument ordinal is 8", [&] { const MirroredStrategy strategy({ninth}); });
}

}  // namespace
}  // namespace chorus::test
