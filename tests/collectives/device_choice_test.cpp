// SPDX-License-Identifier: Apache-2.0
// What is chosen for calls on the memory of devices, by the model.
#include "choose.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

namespace chorus {
namespace {

/// An allreduce of so many bytes on ranks of one node, whose devices read one another's memory.
Problem on_devices(std::size_t bytes, int ranks) {
  return {.call = {.collective = Collective::allreduce,
                   .type = DataType::float32,
                   .op = ReduceOp::sum,
                   .count = bytes / sizeof(float),
                   .memory = Memory::device},
          .ranks = ranks,
          .nodes = 1,
          .largest_node = ranks,
          .smallest_node = ranks,
          .shared = true,
          .slot_bytes = std::size_t{128} << 10U,
          .windows = true};
}

/// Two processes that take turns on one device, and four: a turn of both takes 190 us.
constexpr DevicePace two_on_a_device{
    .copies_us = 190, .copies_megabytes_per_second = 6000, .windows_us = 190, .windows_megabytes_per_second = 400'000};
constexpr DevicePace four_on_a_device{
    .copies_us = 370, .copies_megabytes_per_second = 4000, .windows_us = 400, .windows_megabytes_per_second = 300'000};

std::string_view chosen(std::size_t bytes, int ranks, const DevicePace& pace) {
  return fastest(on_devices(bytes, ranks), LinkModel::of({}, false, {}, pace)).name;
}

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;

TEST(DeviceChoice, WhereProcessesTakeTurnsIsStagedForShortVectorsAndOneShotForLongOnes) {
  for (const std::size_t bytes : {std::size_t{4}, kib, 64 * kib}) {
    EXPECT_EQ(chosen(bytes, 2, two_on_a_device), "staged") << bytes;
    EXPECT_EQ(chosen(bytes, 4, four_on_a_device), "staged") << bytes;
  }
  for (const std::size_t bytes : {4 * mib, 16 * mib, 256 * mib}) {
    EXPECT_EQ(chosen(bytes, 2, two_on_a_device), "ipc_one_shot") << bytes;
    EXPECT_EQ(chosen(bytes, 4, four_on_a_device), "ipc_one_shot") << bytes;
  }
}

TEST(DeviceChoice, OfDevicesOfTheirOwnIsOneShotForShortVectorsAndTwoShotForLongOnes) {
  for (const int ranks : {4, 8}) {
    for (const std::size_t bytes : {std::size_t{4}, kib, 64 * kib}) {
      EXPECT_EQ(chosen(bytes, ranks, {}), "ipc_one_shot") << bytes;
    }
    for (const std::size_t bytes : {16 * mib, 256 * mib}) EXPECT_EQ(chosen(bytes, ranks, {}), "ipc_two_shot") << bytes;
  }
}

TEST(DeviceChoice, IsNcclWhereItConnectsThem) {
  for (const std::size_t bytes : {std::size_t{4}, 64 * kib, 256 * mib}) {
    Problem problem = on_devices(bytes, 8);
    problem.native = true;
    EXPECT_EQ(fastest(problem, LinkModel()).name, "nccl") << bytes;
    problem.windows = false;
    EXPECT_EQ(fastest(problem, LinkModel()).name, "nccl") << bytes;
  }
}

TEST(DeviceChoice, IsByWhatWasMeasured) {
  const LinkModel measured = LinkModel::of({}, false, {}, four_on_a_device);
  EXPECT_EQ(measured.device, (Link{.latency_us = 370, .megabytes_per_second = 4000}));
  EXPECT_EQ(measured.windows, (Link{.latency_us = 400, .megabytes_per_second = 300'000}));
  const LinkModel without = LinkModel::of({}, false, {}, {.copies_us = 5, .copies_megabytes_per_second = 6});
  EXPECT_EQ(without.device, (Link{.latency_us = 5, .megabytes_per_second = 6}));
  EXPECT_EQ(without.windows, LinkModel().windows);
}

/// As they were measured on a device of two processes and of four.
TEST(DeviceChoice, TakesStepsForWhatTheyTake) {
  const auto us = [](std::string_view name, std::size_t bytes, int ranks, const DevicePace& pace) {
    const LinkModel links = LinkModel::of({}, false, {}, pace);
    for (const Algorithm* algorithm : algorithms(Collective::allreduce)) {
      if (algorithm->name == name) return predicted_us(*algorithm, on_devices(bytes, ranks), links);
    }
    return 0.0;
  };
  EXPECT_NEAR(us("staged", 4, 2, two_on_a_device), 190, 20);
  EXPECT_NEAR(us("ipc_one_shot", 4, 2, two_on_a_device), 380, 20);
  EXPECT_NEAR(us("ipc_two_shot", 4, 2, two_on_a_device), 760, 80);
  EXPECT_NEAR(us("staged", 4, 4, four_on_a_device), 370, 20);
  EXPECT_NEAR(us("ipc_one_shot", 4, 4, four_on_a_device), 800, 20);
  EXPECT_GT(us("ipc_one_shot", 17 * mib, 2, two_on_a_device), 760) << "two segments";
}

}  // namespace
}  // namespace chorus
