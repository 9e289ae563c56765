// SPDX-License-Identifier: Apache-2.0
// The order of streams, graphs, and what calls on device memory make of communicators.
#include "device/device_native.hpp"
#include "device/device_ranks.hpp"
#include "device/double/double.hpp"
#include "transport/communicator_state.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using Numbers = std::vector<double>;

Numbers repeated(double value, std::size_t count = 100) { return Numbers(count, value); }

/// The sum of the ranks' numbers, counted from 1.
double sum_of(int ranks) { return ranks * (ranks + 1) / 2.0; }

void keep(std::promise<void>* released) { released->get_future().wait(); }
CUhostFn keeper() {
  return [](void* released) { keep(static_cast<std::promise<void>*>(released)); };
}

TEST(DeviceStreams, NcclDoesNotWaitForTheStream) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(comm.rank() + 1)));
    bcast(comm, memory.span<double>(), 0, stream.get());  // connects
    stream.wait();
    std::promise<void> released;
    check(cuLaunchHostFunc(stream.native(), keeper(), &released));
    allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get());  // hangs where it waits
    EXPECT_EQ(elements<double>(memory), repeated(1)) << "of the stream nothing goes on";
    released.set_value();
    stream.wait();
    EXPECT_EQ(elements<double>(memory), repeated(2));
  });
}

/// Those of less than 32 KiB as two rows, as the driver writes one of them by the cores of the device.
TEST(DeviceStreams, StagedResultsAreWrittenByTheCopyEngine) {
  on_device_ranks(2, Devices::shared, [](const Communicator& comm) {
    const TestStream stream;
    const auto copies_in_two_rows = [&](std::size_t bytes) {
      const DeviceMemory memory(std::vector<std::byte>(bytes, std::byte{1}));
      barrier(comm);
      const std::size_t before = calls("cuMemcpy2DAsync").size();
      barrier(comm);
      allreduce(comm, memory.span<std::uint8_t>(), ReduceOp::sum, stream.get(), {.algorithm = "staged"});
      stream.wait();
      EXPECT_EQ(elements<std::uint8_t>(memory), std::vector<std::uint8_t>(bytes, 2));
      barrier(comm);
      return calls("cuMemcpy2DAsync").size() - before;
    };
    copies_in_two_rows(2);  // the first call measures the devices
    EXPECT_EQ(copies_in_two_rows(2), 2U) << "one on each rank";
    EXPECT_EQ(copies_in_two_rows((32 << 10) - 2), 2U);
    EXPECT_EQ(copies_in_two_rows(32 << 10), 0U);
    EXPECT_EQ(copies_in_two_rows(3), 0U) << "which has no halves";
  });
}

TEST(DeviceStreams, NcclIsCapturedAndStagedRefused) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(comm.rank() + 1)));
    const auto call = [&](const char* algorithm) {
      return outcome_of(
          [&] { allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get(), {.algorithm = algorithm}); });
    };
    check(cuStreamSynchronize(stream.native()));
    begin_capture(stream.native(), CaptureMode::relaxed);
    expect_error(call("nccl"), ErrorCode::not_supported, {"captured", "the first call"});
    EXPECT_EQ(end_capture(stream.native()), CUDA_SUCCESS);

    bcast(comm, memory.span<double>(), 0, stream.get());
    stream.wait();
    begin_capture(stream.native(), CaptureMode::relaxed);
    expect_error(call("staged"), ErrorCode::not_supported, {"captured", "passes through the host"});
    EXPECT_FALSE(call("nccl").code);
    expect_error(outcome_of([&] { synchronize(comm, stream.get()); }), ErrorCode::not_supported, {"captured"});
    EXPECT_EQ(end_capture(stream.native()), CUDA_SUCCESS);
    EXPECT_EQ(elements<double>(memory), repeated(1));
    for (const double result : {2.0, 4.0}) {
      replay(stream.native());
      stream.wait();
      EXPECT_EQ(elements<double>(memory), repeated(result));
    }
  });
}

TEST(DeviceStreams, OfEachThreadAreRefusedByNccl) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const DeviceMemory memory(bytes_of_all(repeated(1)));
    expect_error(
        outcome_of([&] { bcast(comm, memory.span<double>(), 0, Stream(CU_STREAM_PER_THREAD), {.algorithm = "nccl"}); }),
        ErrorCode::not_supported, {"per-thread stream", "cudaStreamCreate"});
  });
}

TEST(DeviceChoice, NcclWhereItCanAndStagedWhereNot) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory numbers(bytes_of_all(repeated(comm.rank() + 1)));
    const DeviceMemory whole(bytes_of_all(std::vector<int>(10, comm.rank() + 1)));
    allreduce(comm, numbers.span<double>(), ReduceOp::sum, stream.get());
    stream.wait();
    EXPECT_EQ(elements<double>(numbers), repeated(3));
    const std::size_t by_nccl = calls("ncclAllReduce").size();
    EXPECT_GT(by_nccl, 0U);
    allreduce(comm, whole.span<int>(), ReduceOp::bitwise_or, stream.get());
    EXPECT_EQ(elements<int>(whole), std::vector<int>(10, 3));
    allreduce(comm, numbers.span<double>(), ReduceOp::sum, stream.get(), {.reproducible = true});
    EXPECT_EQ(elements<double>(numbers), repeated(6));
    barrier(comm);
    EXPECT_EQ(calls("ncclAllReduce").size(), 2U);
  });
}

TEST(DeviceChoice, RanksThatShareADeviceGoThroughTheHost) {
  on_device_ranks(4, Devices::shared, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory all(bytes_of_all(repeated(comm.rank() + 1, 400))), memory(bytes_of_all(repeated(0)));
    reduce_scatter_block(comm, all.span<const double>(), memory.span<double>(), ReduceOp::sum, stream.get());
    EXPECT_EQ(elements<double>(memory), repeated(sum_of(4))) << "a staged call is over when it returns";
    const Outcome named =
        outcome_of([&] { allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get(), {.algorithm = "nccl"}); });
    expect_error(named, ErrorCode::not_supported, {"nccl", "cannot carry out"});
    barrier(comm);
    EXPECT_TRUE(calls("ncclCommInitRankConfig").empty());
  });
}

TEST(DeviceCommunicators, OneConnectionForAllCalls) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(1)));
    for (int call = 0; call < 5; ++call) allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get());
    stream.wait();
    barrier(comm);
    EXPECT_EQ(calls("ncclCommInitRankConfig").size(), 3U);
  });
}

Task<> until_connected(DeviceNative& native) { co_await DeviceNative::Connected(native); }

TEST(DeviceCommunicators, PartsAreSplitOff) {
  on_device_ranks(5, Devices::own, [](const Communicator& comm) {
    const int me = comm.rank();
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(me)));
    bcast(comm, memory.span<double>(), 2, stream.get());
    stream.wait();
    EXPECT_EQ(elements<double>(memory), repeated(2));

    DeviceNative& native = *comm.state().transport().device_native();
    const bool takes_part = me != 4;
    const auto part = native.split(takes_part ? std::optional(me % 2) : std::nullopt, -me);
    comm.state().drive(until_connected(*part));
    if (takes_part) {
      const DeviceMemory own(bytes_of_all(repeated(me))), all(2 * 100 * sizeof(double));
      part->queue({.collective = Collective::allgather, .type = DataType::float64, .count = 100},
                  {.in = own.data(), .out = all.data()}, nullptr, stream.native());
      stream.wait();
      Numbers wanted = repeated(2 + me % 2);  // in the order of the keys
      const Numbers last = repeated(me % 2);
      wanted.insert(wanted.end(), last.begin(), last.end());
      EXPECT_EQ(elements<double>(all), wanted);
    }
    barrier(comm);
    EXPECT_EQ(calls("ncclCommInitRankConfig").size(), 5U);
    EXPECT_EQ(calls("ncclCommSplit").size(), 5U);
  });
}

TEST(DeviceCommunicators, HaveOneDeviceOnEachRank) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(1)));
    allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get());
    stream.wait();
    const int other = 2 + comm.rank();
    CUcontext context = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, other));
    check(cuCtxPushCurrent(context));
    const DeviceMemory elsewhere(bytes_of_all(repeated(1)));
    CUcontext popped = nullptr;
    check(cuCtxPopCurrent(&popped));
    expect_error(outcome_of([&] { allreduce(comm, elsewhere.span<double>(), ReduceOp::max, stream.get()); }),
                 ErrorCode::invalid_argument, {"of device " + std::to_string(other), "dup"});
  });
}

}  // namespace
}  // namespace chorus::test
