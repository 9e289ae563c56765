// SPDX-License-Identifier: Apache-2.0
// The order of streams, graphs, and what calls on device memory make of communicators.
#include "base/machine.hpp"
#include "device/accelerator.hpp"
#include "device/device_native.hpp"
#include "device/device_ranks.hpp"
#include "device/double/double.hpp"
#include "device/nccl_thread.hpp"
#include "transport/communicator_state.hpp"
#include "worlds/outcome.hpp"
#include "worlds/scoped_variable.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
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

/// Where a call is given up: its buffers are the caller's again, and what is pinned is freed.
TEST(DeviceStreams, GoOnAfterCopiesThatAreUnderWay) {
  on_device_ranks(1, Devices::shared, [](const Communicator& /*comm*/) {
    using Way = Accelerator::Way;
    const std::vector<std::byte> ones(1000, std::byte{1}), twos(1000, std::byte{2});
    const Accelerator::Rows row{.count = 1, .bytes = 1000, .distance = 1000};
    const TestStream stream;
    const DeviceMemory memory(ones);
    const auto device = Accelerator::of(0);
    std::byte* const pinned = device->pinned(1000).data();
    set_copy_delay(std::chrono::milliseconds(20));
    for (const Way way : {Way::to_host, Way::to_device}) {
      device->copy(way, 0, pinned, memory.data(), row);
      device->go_before(stream.native());
      check(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(memory.data()), 2, 1000, stream.native()));
      stream.wait();
      while (!device->is_over(way, 0)) std::this_thread::yield();
      EXPECT_EQ(std::vector<std::byte>(pinned, pinned + 1000), ones);
      EXPECT_EQ(memory.content(), twos);
    }
    device->copy(Way::to_host, 0, pinned, memory.data(), row);  // the device's end waits for it
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

/// The stream that this rank's last copy to its device went into.
CUstream stream_of_last_copy(const Communicator& comm) {
  const void* last = nullptr;
  for (const DeviceCall& call : calls("cuMemcpyHtoDAsync")) {
    if (call.label == "rank " + std::to_string(comm.rank())) last = call.stream;
  }
  return static_cast<CUstream>(const_cast<void*>(last));
}

TEST(DeviceStreams, LongBlocksPassThroughLittlePinnedMemory) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const std::size_t counts[] = {std::size_t{1} << 19U, std::size_t{1} << 19U};
    const TestStream stream;
    const DeviceMemory from(bytes_of_all(Numbers(2 * counts[0], 1))), to(bytes_of_all(Numbers(2 * counts[0])));
    alltoallv(comm, from.span<const double>(), BlockLayout(counts), to.span<double>(), BlockLayout(counts),
              stream.get(), {.algorithm = "staged"});
    EXPECT_EQ(elements<double>(to), elements<double>(from));
    for (const DeviceCall& call : calls("cuMemHostAlloc")) EXPECT_LE(call.bytes, 5 * machine::staged_at_once);
  });
}

TEST(DeviceStreams, StagedSegmentsStayInPinnedMemoryUntilTheyAreOnTheDevice) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    Numbers given(400'000);
    std::iota(given.begin(), given.end(), 0);
    const DeviceMemory memory(bytes_of_all(given));
    const auto call = [&] {
      allreduce(comm, memory.span<double>(), ReduceOp::max, stream.get(), {.algorithm = "staged"});
    };
    call();
    put_pause(stream_of_last_copy(comm), std::chrono::milliseconds(50));
    call();
    EXPECT_EQ(elements<double>(memory), given);
  });
}

/// The default stream is that of the communicator's device.
TEST(DeviceStreams, ThreadsMayUseAnotherDeviceThanTheCommunicator) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const DeviceMemory memory(bytes_of_all(repeated(comm.rank() + 1)));
    for (const char* algorithm : {"nccl", "staged"}) {
      const auto call = [&] {
        allreduce(comm, memory.span<double>(), ReduceOp::sum, Stream(), {.algorithm = algorithm});
        synchronize(comm, Stream());
      };
      call();
      const int other = 2 + comm.rank();
      take_device(other);
      call();
      CUdevice current = -1;
      check(cuCtxGetDevice(&current));
      EXPECT_EQ(current, other) << "it stays the thread's";
      take_device(comm.rank());
    }
    EXPECT_EQ(elements<double>(memory), repeated(3 * 8));
  });
}

TEST(DeviceStreams, OperationsThatMultiplyAreDestroyed) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(1)));
    allreduce(comm, memory.span<double>(), PremultipliedSum<double>{2}, stream.get(), {.algorithm = "nccl"});
    synchronize(comm, stream.get());
    barrier(comm);
    EXPECT_EQ(leaks().reduce_ops, 0);
  });
}

/// In the mode that CUDA's runtime takes where none is given, which forbids to look at events.
TEST(DeviceStreams, CapturesLastThroughHundredsOfCalls) {
  for (const auto& [before, captured] : {std::pair(511, 1), {300, 300}}) {
    on_device_ranks(1, Devices::own, [before = before, captured = captured](const Communicator& comm) {
      const TestStream stream;
      const DeviceMemory memory(bytes_of_all(repeated(1)));
      const auto call = [&] { allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get()); };
      for (int i = 0; i < before; ++i) call();
      begin_capture(stream.native(), CaptureMode::global);
      for (int i = 0; i < captured; ++i) EXPECT_FALSE(outcome_of(call).code) << i;
      EXPECT_EQ(end_capture(stream.native()), CUDA_SUCCESS) << before;
      stream.wait();
    });
  }
}

/// As their graph is launched later, or never.
TEST(DeviceStreams, CapturedCallsAreNotWatched) {
  const ScopedVariable timeout("CHORUS_TIMEOUT", "8");
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(comm.rank() + 1)));
    const auto events_of_call = [&] {
      barrier(comm);
      const std::size_t before = calls("cuEventRecord").size();
      barrier(comm);
      allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get());
      barrier(comm);
      return calls("cuEventRecord").size() - before;
    };
    allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get());  // connects
    EXPECT_EQ(events_of_call(), 2U) << "one on each rank";
    stream.wait();
    begin_capture(stream.native(), CaptureMode::relaxed);
    EXPECT_EQ(events_of_call(), 0U);
    EXPECT_EQ(end_capture(stream.native()), CUDA_SUCCESS);
  });
}

/// By what looks at the calls in streams meanwhile.
TEST(DeviceStreams, CapturesOfOtherThreadsAreNotDisturbed) {
  const ScopedVariable timeout("CHORUS_TIMEOUT", "8");
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream, captured;
    const DeviceMemory memory(bytes_of_all(repeated(comm.rank() + 1)));
    bcast(comm, memory.span<double>(), 0, stream.get());
    stream.wait();
    std::promise<void> released;
    check(cuLaunchHostFunc(stream.native(), keeper(), &released));
    allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get());
    barrier(comm);
    if (comm.rank() == 0) {
      begin_capture(captured.native(), CaptureMode::global);
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      EXPECT_EQ(end_capture(captured.native()), CUDA_SUCCESS);
    }
    barrier(comm);
    released.set_value();
    stream.wait();
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
      part->queue({.call = {.collective = Collective::allgather, .type = DataType::float64, .count = 100},
                   .buffers = {.in = own.data(), .out = all.data()},
                   .stream = stream.native()});
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

/// Makes a connection, which is over before or after it is given up.
void give_up_a_connection(bool over) {
  CUcontext context = nullptr;
  check(cuCtxGetCurrent(&context));
  const auto begun = std::make_shared<std::promise<void>>();
  const auto goes_on = std::make_shared<std::promise<void>>();
  {
    const NcclThread connection(context, [begun, goes_on] {
      begun->set_value();
      goes_on->get_future().wait();
      ncclUniqueId id{};
      ncclGetUniqueId(&id);
      ncclComm_t made = nullptr;
      ncclCommInitRankConfig(&made, 1, id, 0, nullptr);
      return made;
    });
    begun->get_future().wait();
    if (over) goes_on->set_value();
    while (over && !connection.is_over()) std::this_thread::yield();
  }
  if (!over) goes_on->set_value();
}

TEST(DeviceCommunicators, ThatNobodyTakesAreAborted) {
  on_device_ranks(1, Devices::shared, [](const Communicator& /*comm*/) {
    for (const std::size_t aborted : {1U, 2U}) {
      give_up_a_connection(aborted == 2);
      for (int wait = 0; wait < 2000 && calls("ncclCommAbort").size() < aborted; ++wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_EQ(calls("ncclCommAbort").size(), aborted);
    }
  });
}

}  // namespace
}  // namespace chorus::test
