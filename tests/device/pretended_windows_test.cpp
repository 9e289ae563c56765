// SPDX-License-Identifier: Apache-2.0
// Allreduce through windows of the devices' memory, where the doubles say how devices behave and see what is called.
#include "base/machine.hpp"
#include "device/calls_in_flight.hpp"
#include "device/device_ranks.hpp"
#include "device/double/double.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

class PretendedWindows : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, PretendedWindows, testing::ValuesIn(window_algorithms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(PretendedWindows, KeepCallsApartWhereADeviceIsSlow) {
  for (const int slow : {0, 3}) {
    on_device_ranks(4, Devices::own, [slow](const Communicator& comm) {
      if (comm.rank() == 0) set_kernel_delay(slow, 5ms);
      barrier(comm);
      check_calls_in_flight(comm, GetParam());
    });
  }
}

TEST_P(PretendedWindows, AreNotForGraphs) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(std::vector<float>(10, 1)));
    const auto call = [&] {
      return outcome_of(
          [&] { allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get(), {.algorithm = GetParam()}); });
    };
    EXPECT_FALSE(call().code);
    stream.wait();
    begin_capture(stream.native(), CaptureMode::relaxed);
    expect_error(call(), ErrorCode::not_supported, {"captured", "passes through the host"});
    EXPECT_EQ(end_capture(stream.native()), CUDA_SUCCESS);
  });
}

TEST_P(PretendedWindows, AreOpenedInOtherProcesses) {
  for (const Devices devices : {Devices::own, Devices::shared}) {
    on_device_ranks(4, devices, [&](const Communicator& comm) {
      barrier(comm);
      set_process(comm.rank() + 1);
      connect_windows_anew(comm, {.pid = comm.rank() + 1}, machine::window_half);
      check_calls_in_flight(comm, GetParam());
      barrier(comm);
      EXPECT_EQ(leaks().opened_memory, 4 * 3);
    });
  }
}

/// The memory and the streams stay, and what is in these goes on.
TEST_P(PretendedWindows, StayUntilNothingReadsThem) {
  on_device_ranks(1, Devices::shared, [](const Communicator& /*comm*/) {
    const int ranks = 3;
    const TestStream streams[ranks];
    std::vector<std::unique_ptr<DeviceMemory>> vectors;
    for (int rank = 0; rank < ranks; ++rank) {
      vectors.push_back(std::make_unique<DeviceMemory>(bytes_of_all(std::vector<int>(1000, rank + 1))));
    }
    set_kernel_delay(0, 20ms);
    std::vector<std::thread> threads;
    for (const Communicator& comm : thread_communicators(ranks)) {
      threads.emplace_back([&, comm]() mutable {
        allreduce(comm, vectors[static_cast<std::size_t>(comm.rank())]->span<int>(), ReduceOp::sum,
                  streams[comm.rank()].get(), {.algorithm = GetParam()});
      });
    }
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    for (const TestStream& stream : streams) stream.wait();
    for (const auto& vector : vectors) EXPECT_EQ(elements<int>(*vector), std::vector<int>(1000, 6));
  });
}

}  // namespace
}  // namespace chorus::test
