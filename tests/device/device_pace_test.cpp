// SPDX-License-Identifier: Apache-2.0
// What is measured of devices that NCCL does not connect, and what is chosen by it.
#include "device/device_pace.hpp"
#include "device/device_ranks.hpp"
#include "device/double/double.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

/// Longer than anything takes on a busy machine under sanitizers, so that it decides what is chosen.
constexpr auto slow = 60ms;

/// Ranks that share a device, whose pace is measured anew.
void on_one_device(int ranks, const std::function<void(const Communicator&)>& body) {
  forget_device_pace();
  on_device_ranks(ranks, Devices::shared, body);
}

DevicePace pace_of(const Communicator& comm) { return comm.state().transport().device_pace(); }

void sum_once(const Communicator& comm) {
  const TestStream stream;
  const DeviceMemory memory(bytes_of_all(std::vector<float>(10, static_cast<float>(comm.rank() + 1))));
  allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
  stream.wait();
  const auto sum = static_cast<float>(comm.size() * (comm.size() + 1) / 2);
  EXPECT_EQ(elements<float>(memory), std::vector<float>(10, sum));
}

/// How many kernels all ranks start in a call, after one that sets up the devices.
template <class T>
std::size_t kernels_of(const Communicator& comm, ReduceOp op, const CollectiveOptions& options = {}) {
  sum_once(comm);
  const TestStream stream;
  const DeviceMemory memory(bytes_of_all(std::vector<T>(10, T(1))));
  barrier(comm);
  const std::size_t before = calls("cuLaunchKernel").size();
  barrier(comm);
  allreduce(comm, memory.span<T>(), op, stream.get(), options);
  synchronize(comm, stream.get());
  barrier(comm);
  return calls("cuLaunchKernel").size() - before;
}

TEST(DevicePace, IsTheSameOnEveryRank) {
  std::vector<DevicePace> paces(4);
  on_one_device(4, [&](const Communicator& comm) {
    EXPECT_FALSE(pace_of(comm).known());
    sum_once(comm);
    paces[static_cast<std::size_t>(comm.rank())] = pace_of(comm);
  });
  EXPECT_TRUE(paces[0].known());
  EXPECT_EQ(paces[0].knows_windows(), CHORUS_HAS_KERNELS == 1);
  EXPECT_GT(paces[0].copies_megabytes_per_second, 0);
  EXPECT_EQ(paces, std::vector<DevicePace>(4, paces[0]));
}

TEST(DevicePace, IsThatOfTheSlowestRank) {
  on_one_device(2, [](const Communicator& comm) {
    if (comm.rank() == 0) set_copy_delay(2ms);
    if (comm.rank() == 0) set_kernel_delay(0, 3ms);
    barrier(comm);
    sum_once(comm);
    EXPECT_GE(pace_of(comm).copies_us, 4000);
    EXPECT_LE(pace_of(comm).copies_megabytes_per_second, 1100) << "2 MiB in 2 ms";
    EXPECT_GE(pace_of(comm).windows_us, CHORUS_HAS_KERNELS == 1 ? 1500 : 0);
  });
}

TEST(DevicePace, IsRememberedOfTheSameRanks) {
  std::vector<DevicePace> paces;
  const auto note_pace = [&](const Communicator& comm) {
    sum_once(comm);
    if (comm.rank() == 0) paces.push_back(pace_of(comm));
  };
  on_one_device(3, note_pace);
  on_device_ranks(3, Devices::shared, note_pace);
  on_device_ranks(2, Devices::shared, note_pace);
  EXPECT_TRUE(paces.at(0).known());
  EXPECT_EQ(paces.at(1), paces[0]);
  EXPECT_NE(paces.at(2), paces[0]) << "others than those";
}

TEST(DevicePace, IsMeasuredAnewWhereThereAreNoWindowsAnyMore) {
  on_one_device(2, sum_once);
  on_device_ranks(2, Devices::shared, [](const Communicator& comm) {
    if (comm.rank() == 0) inject({.function = "cuIpcGetMemHandle", .result = CUDA_ERROR_NOT_SUPPORTED});
    barrier(comm);
    sum_once(comm);
    EXPECT_TRUE(pace_of(comm).known());
    EXPECT_FALSE(pace_of(comm).knows_windows());
  });
}

TEST(DevicePace, IsNotMeasuredWhereNcclConnectsTheDevices) {
  forget_device_pace();
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    sum_once(comm);
    EXPECT_FALSE(pace_of(comm).known());
    EXPECT_TRUE(calls("cuMemcpyDtoHAsync").empty());
  });
}

/// What a call on memory of the host has chosen before does not stay.
TEST(DevicePace, IsWhatIsChosenByAfterCallsOnTheHost) {
  on_one_device(2, [](const Communicator& comm) {
    if (comm.rank() == 0) set_kernel_delay(0, slow);
    std::vector<float> host(10, 1);
    allreduce(comm, std::span(host), ReduceOp::sum);
    EXPECT_EQ(kernels_of<float>(comm, ReduceOp::sum), 0U);
  });
}

TEST(DeviceChoiceByPace, StagedForShortVectorsWhereStepsBetweenDevicesAreSlow) {
  on_one_device(4, [](const Communicator& comm) {
    if (comm.rank() == 0) set_kernel_delay(0, slow);
    barrier(comm);
    EXPECT_EQ(kernels_of<float>(comm, ReduceOp::sum), 0U);
  });
}

#if CHORUS_HAS_KERNELS
TEST(DeviceChoiceByPace, OneShotForShortVectorsWhereTheyAreFast) {
  on_one_device(4, [](const Communicator& comm) {
    if (comm.rank() == 0) set_copy_delay(slow);
    barrier(comm);
    EXPECT_EQ(kernels_of<float>(comm, ReduceOp::sum), 4U);
    EXPECT_EQ(kernels_of<int>(comm, ReduceOp::bitwise_or), 0U) << "which windows cannot join";
    EXPECT_EQ(kernels_of<int>(comm, ReduceOp::average), 0U);
  });
}

/// Else a deterministic call would have other bits in another run.
TEST(DeviceChoiceByPace, TheSameForDeterministicCallsWhateverIsSlow) {
  std::vector<std::size_t> kernels;
  const auto count = [&](const Communicator& comm) {
    const std::size_t these = kernels_of<float>(comm, ReduceOp::sum, {.deterministic = true});
    if (comm.rank() == 0) kernels.push_back(these);
  };
  on_one_device(4, [&](const Communicator& comm) {
    if (comm.rank() == 0) set_kernel_delay(0, slow);
    barrier(comm);
    count(comm);
  });
  on_one_device(4, [&](const Communicator& comm) {
    if (comm.rank() == 0) set_copy_delay(slow);
    barrier(comm);
    count(comm);
  });
  EXPECT_EQ(kernels.at(0), kernels.at(1));
}
#endif

#if CHORUS_HAS_KERNELS
constexpr const char* measuring[] = {"cuMemAllocAsync", "cuMemHostAlloc",    "cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync",
                                     "cuEventQuery",    "cuMemcpyDtoDAsync", "cuLaunchKernel",    "cuStreamQuery"};
#else
constexpr const char* measuring[] = {"cuMemAllocAsync", "cuMemHostAlloc", "cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync",
                                     "cuEventQuery"};
#endif
class FailingMeasurement : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, FailingMeasurement, testing::ValuesIn(measuring),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(FailingMeasurement, LeavesTheModelAsItIsBuiltInAndHangsNobody) {
  on_one_device(3, [](const Communicator& comm) {
    if (comm.rank() == 0) inject({.function = GetParam(), .result = CUDA_ERROR_INVALID_VALUE, .nth = 2});
    barrier(comm);
    sum_once(comm);
    EXPECT_EQ(pace_of(comm), DevicePace());
    sum_once(comm);
  });
}

}  // namespace
}  // namespace chorus::test
