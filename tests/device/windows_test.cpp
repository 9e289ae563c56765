// SPDX-License-Identifier: Apache-2.0
// Allreduce through windows of the devices' memory: what the matrix of all algorithms does not see.
#include "base/machine.hpp"
#include "device/device_ranks.hpp"
#include "device/double/double.hpp"
#include "device/find_devices.hpp"
#include "transport/communicator_state.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* algorithms[] = {"ipc_one_shot", "ipc_two_shot"};

class Windows : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, Windows, testing::ValuesIn(algorithms),
                         [](const auto& info) { return std::string(info.param); });

/// The sum of the ranks' numbers, counted from 1, and of `more` on each.
double sum_of(int ranks, double more = 0) { return ranks * (ranks + 1) / 2.0 + ranks * more; }

TEST_P(Windows, TakeVectorsInSegments) {
  for (const auto& [type, ranks] : {std::pair(DataType::float32, 2), std::pair(DataType::uint8, 3)}) {
    std::vector<PreparedCall> calls;
    const std::size_t half = machine::window_half / size_of(type);
    for (const std::size_t count : {half - 1, half, half + 1, 2 * half, 2 * half + 1, 3 * half + 17}) {
      calls.emplace_back(Call{Collective::allreduce, type, ReduceOp::sum, 0, count}, ranks,
                         Placement{.in_place = count % 2 == 0});
    }
    on_device_ranks(ranks, ranks == 2 ? Devices::own : Devices::shared, [&](const Communicator& comm) {
      const TestStream stream;
      for (const PreparedCall& call : calls) {
        DeviceBuffers buffers(call, comm.rank());
        call_door(comm, call.call(), buffers.of(stream.get()), {.algorithm = GetParam()});
        stream.wait();
        buffers.check();
      }
    });
  }
}

/// Addresses that a device cannot read in packs.
TEST_P(Windows, TakeMemoryOfAnyAlignment) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(std::vector<float>(1001, static_cast<float>(comm.rank() + 1))));
    allreduce(comm, memory.span<float>().subspan(1, 999), ReduceOp::sum, stream.get(), {.algorithm = GetParam()});
    stream.wait();
    std::vector<float> wanted(1001, 6);
    wanted.front() = wanted.back() = static_cast<float>(comm.rank() + 1);
    EXPECT_EQ(elements<float>(memory), wanted);
  });
}

/// Calls of which none is waited for, each in another stream than the one before, by both algorithms in turn.
void check_calls_in_flight(const Communicator& comm, const std::string& first) {
  const std::size_t count = 5000;
  const int calls = 12;
  const TestStream streams[3];
  std::vector<std::unique_ptr<DeviceMemory>> vectors;
  for (int call = 0; call < calls; ++call) {
    vectors.push_back(std::make_unique<DeviceMemory>(bytes_of_all(std::vector<double>(count, comm.rank() + 1 + call))));
  }
  for (int call = 0; call < calls; ++call) {
    const char* const algorithm = (first == algorithms[0]) == (call % 5 < 3) ? algorithms[0] : algorithms[1];
    allreduce(comm, vectors[static_cast<std::size_t>(call)]->span<double>(), ReduceOp::sum, streams[call % 3].get(),
              {.algorithm = algorithm});
  }
  for (const TestStream& stream : streams) stream.wait();
  for (int call = 0; call < calls; ++call) {
    EXPECT_EQ(elements<double>(*vectors[static_cast<std::size_t>(call)]),
              std::vector<double>(count, sum_of(comm.size(), call)))
        << "call " << call << " on rank " << comm.rank();
  }
}

TEST_P(Windows, KeepCallsApartThatAreInFlight) {
  for (const int slow : {-1, 0, 3}) {
    on_device_ranks(4, Devices::own, [slow](const Communicator& comm) {
      if (comm.rank() == 0) set_kernel_delay(slow, 5ms);
      barrier(comm);
      check_calls_in_flight(comm, GetParam());
    });
  }
  on_device_ranks(4, Devices::shared, [](const Communicator& comm) { check_calls_in_flight(comm, GetParam()); });
}

TEST_P(Windows, WaitForStreamsThatAreLate) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const auto oversleep = [](void*) { std::this_thread::sleep_for(10ms); };
    for (int late = 0; late < 3; ++late) {
      const DeviceMemory memory(bytes_of_all(std::vector<int>(100, 0)));
      const std::vector<int> given(100, comm.rank() + 1);
      if (comm.rank() == late) check(cuLaunchHostFunc(stream.native(), oversleep, nullptr));
      check(cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(memory.data()), given.data(), 400, stream.native()));
      allreduce(comm, memory.span<int>(), ReduceOp::sum, stream.get(), {.algorithm = GetParam()});
      stream.wait();
      EXPECT_EQ(elements<int>(memory), std::vector<int>(100, 6)) << "late is rank " << late;
    }
  });
}

/// Factors of each rank's own, without which the test of all algorithms' sums calls other collectives.
template <class T>
void check_premultiplied(const Communicator& comm, const char* algorithm) {
  const TestStream stream;
  for (const std::size_t count : {std::size_t{1}, std::size_t{203}}) {
    const std::vector<T> given(count, T(comm.rank() + 1));
    const DeviceMemory in(bytes_of_all(given)), out(bytes_of_all(std::vector<T>(count, T(0))));
    const PremultipliedSum<T> op{T(comm.rank() + 2)};
    allreduce(comm, in.span<const T>(), out.span<T>(), op, stream.get(), {.algorithm = algorithm});
    stream.wait();
    EXPECT_EQ(elements<T>(out), std::vector<T>(count, T(1 * 2 + 2 * 3 + 3 * 4)));
    EXPECT_EQ(elements<T>(in), given);
  }
}

TEST_P(Windows, MultiplyBeforeASum) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    check_premultiplied<double>(comm, GetParam());
    check_premultiplied<float>(comm, GetParam());
    check_premultiplied<float16_t>(comm, GetParam());
    check_premultiplied<bfloat16_t>(comm, GetParam());
    check_premultiplied<std::int64_t>(comm, GetParam());
    check_premultiplied<std::uint8_t>(comm, GetParam());
  });
}

/// Halves are joined in float and rounded once, in the order of the ranks, to the same bits on all.
TEST_P(Windows, RoundOnceInTheOrderOfTheRanks) {
  on_device_ranks(5, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const float given[] = {2048, 1, 1, 0x1p-6F, -2048};
    const DeviceMemory memory(bytes_of_all(std::vector<float16_t>(40, float16_t(given[comm.rank()]))));
    allreduce(comm, memory.span<float16_t>(), ReduceOp::sum, stream.get(), {.algorithm = GetParam()});
    stream.wait();
    for (const float16_t sum : elements<float16_t>(memory)) EXPECT_EQ(sum, 2.015625F) << "2048 + 1 is 2048 in halves";
  });
}

TEST_P(Windows, AreNotForGraphs) {
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

/// Windows as ranks of different processes have them.
Task<> connect_as_processes(Transport& transport, int device) {
  set_process(transport.rank() + 1);
  ConnectedWindows connected = co_await connect_windows(transport, device, {.pid = transport.rank() + 1});
  EXPECT_TRUE(connected.windows) << connected.why_not;
  transport.set_devices(chorus::Devices{
      .accelerator = Accelerator::of(device), .native = nullptr, .windows = std::move(connected.windows), .note = {}});
}

TEST_P(Windows, AreOpenedInOtherProcesses) {
  for (const Devices devices : {Devices::own, Devices::shared}) {
    on_device_ranks(4, devices, [&](const Communicator& comm) {
      barrier(comm);
      comm.state().drive(connect_as_processes(comm.state().transport(), devices == Devices::own ? comm.rank() : 0));
      check_calls_in_flight(comm, GetParam());
      barrier(comm);
      EXPECT_EQ(leaks().opened_memory, 4 * 3);
    });
  }
}

/// The memory and the streams stay, and what is in these goes on.
TEST_P(Windows, StayUntilNothingReadsThem) {
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

TEST(WindowsChoice, OneShotForShortVectorsTwoShotForLongOnesStagedForTheRest) {
  on_device_ranks(4, Devices::shared, [](const Communicator& comm) {
    const TestStream stream;
    const auto call = [&](const auto& vector, ReduceOp op) {
      using T = typename std::remove_cvref_t<decltype(vector)>::value_type;
      const DeviceMemory memory(bytes_of_all(vector));
      barrier(comm);
      const std::size_t kernels = calls("cuLaunchKernel").size(), copies = calls("cuMemcpyDtoDAsync").size();
      barrier(comm);
      allreduce(comm, memory.span<T>(), op, stream.get());
      synchronize(comm, stream.get());
      barrier(comm);
      return std::pair(calls("cuLaunchKernel").size() - kernels, calls("cuMemcpyDtoDAsync").size() - copies);
    };
    using Counts = std::pair<std::size_t, std::size_t>;
    EXPECT_EQ(call(std::vector<float>(10, 1), ReduceOp::sum), Counts(4, 4));
    EXPECT_EQ(call(std::vector<float>(500'000, 1), ReduceOp::sum), Counts(4, 4 + 16));
    EXPECT_EQ(call(std::vector<int>(10, 1), ReduceOp::bitwise_or), Counts(0, 0));
    EXPECT_EQ(call(std::vector<int>(10, 1), ReduceOp::average), Counts(0, 0));
  });
}

}  // namespace
}  // namespace chorus::test
