// SPDX-License-Identifier: Apache-2.0
// Allreduce through windows of the devices' memory: what the matrix of all algorithms does not see.
#include "device/calls_in_flight.hpp"
#include "device/device_ranks.hpp"
#include "transport/process.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

class Windows : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, Windows, testing::ValuesIn(window_algorithms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Windows, TakeVectorsInSegments) {
  const std::size_t half_bytes = 64 << 10U;
  for (const auto& [type, ranks] : {std::pair(DataType::float32, 2), std::pair(DataType::uint8, 3)}) {
    std::vector<PreparedCall> calls;
    const std::size_t half = half_bytes / size_of(type);
    for (const std::size_t count : {half - 1, half, half + 1, 2 * half, 2 * half + 1, 3 * half + 17}) {
      calls.emplace_back(Call{Collective::allreduce, type, ReduceOp::sum, 0, count}, ranks,
                         Placement{.in_place = count % 2 == 0});
    }
    on_device_ranks(ranks, ranks == 2 ? Devices::own : Devices::shared, [&](const Communicator& comm) {
      barrier(comm);
      connect_windows_anew(comm, this_process(), half_bytes);
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

TEST_P(Windows, KeepCallsApartThatAreInFlight) {
  for (const Devices devices : {Devices::own, Devices::shared}) {
    on_device_ranks(4, devices, [](const Communicator& comm) { check_calls_in_flight(comm, GetParam()); });
  }
}

TEST_P(Windows, WaitForStreamsThatAreLate) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    for (int late = 0; late < 3; ++late) {
      const DeviceMemory memory(bytes_of_all(std::vector<int>(100, 0)));
      const std::vector<int> given(100, comm.rank() + 1);
      if (comm.rank() == late) put_pause(stream.native(), 10ms);
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

}  // namespace
}  // namespace chorus::test
