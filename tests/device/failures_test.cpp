// SPDX-License-Identifier: Apache-2.0
// What calls on device memory refuse, and how they end where a device, NCCL or a rank fails.
#include "device/accelerator.hpp"
#include "device/device_memory.hpp"
#include "device/device_ranks.hpp"
#include "device/double/double.hpp"
#include "worlds/outcome.hpp"
#include "worlds/scoped_variable.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <nccl.h>

#include <barrier>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

std::vector<float> ones() { return std::vector<float>(50, 1); }

Outcome allreduce_outcome(const Communicator& comm, const DeviceMemory& memory, const TestStream& stream,
                          const CollectiveOptions& options = {}) {
  return outcome_of([&] {
    allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get(), options);
    synchronize(comm, stream.get());
  });
}

TEST(DeviceRefusals, MemoryOfTheWrongKind) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    std::vector<float> host = ones();
    const DeviceSpan<float> no_device(host.data(), host.size());
    expect_error(outcome_of([&] { allreduce(comm, no_device, ReduceOp::sum, stream.get()); }),
                 ErrorCode::invalid_argument,
                 {"allreduce on rank", "argument data", "no memory of a device", "std::span"});
    allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
    stream.wait();
    const std::span<float> no_host(reinterpret_cast<float*>(memory.data()), 50);
    expect_error(outcome_of([&] { allreduce(comm, no_host, ReduceOp::sum); }), ErrorCode::invalid_argument,
                 {"argument data", "memory of a device", "DeviceSpan"});
    expect_error(outcome_of([&] { allgather(comm, host, no_host); }), ErrorCode::invalid_argument,
                 {"argument out has"});
    expect_error(outcome_of([&] { bcast(comm, DeviceSpan<float>(nullptr, 3), 0, stream.get()); }),
                 ErrorCode::invalid_argument, {"null pointer"});
    expect_error(outcome_of([&] { bcast(comm, memory.span<float>(), 2, stream.get()); }), ErrorCode::invalid_argument,
                 {"argument root is 2"});
    EXPECT_FALSE(outcome_of([&] { allreduce(comm, host, ReduceOp::sum); }).code) << "the communicator is whole";
    EXPECT_EQ(host, std::vector<float>(50, 2));
  });
}

TEST(DeviceRefusals, MemoryOfADeviceWhereTheProgramBeginsToUseItAfterTheSetUp) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const DeviceMemory memory(bytes_of_all(ones()));
    const std::span<float> no_host(reinterpret_cast<float*>(memory.data()), 50);
    barrier(comm);
    process_uses_cuda = false;
    expect_error(outcome_of([&] { allreduce(comm, no_host, ReduceOp::sum); }), ErrorCode::invalid_argument,
                 {"argument data", "memory of a device", "DeviceSpan"});
  });
}

TEST(DeviceRefusals, TheDefaultStreamWhileAnotherIsCaptured) {
  on_device_ranks(1, Devices::own, [](const Communicator& comm) {
    const DeviceMemory memory(bytes_of_all(ones()));
    const auto outcome = [&] {
      return outcome_of([&] {
        allreduce(comm, memory.span<float>(), ReduceOp::sum, Stream(nullptr));
        synchronize(comm, Stream(nullptr));
      });
    };
    CUstream captured = nullptr;
    check(cuStreamCreate(&captured, CU_STREAM_DEFAULT));
    begin_capture(captured);
    expect_error(outcome(), ErrorCode::not_supported, {"allreduce on rank 0", "default stream", "stream of your own"});
    EXPECT_EQ(end_capture(captured), CUDA_SUCCESS);
    check(cuStreamDestroy(captured));
    EXPECT_FALSE(outcome().code);
  });
}

TEST(DeviceRefusals, MemoryOfADeviceInAnyBlockOfAlltoallw) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const DeviceMemory memory(bytes_of_all(ones()));
    std::vector<std::byte> host(8);
    const std::span<std::byte> on_host(host), on_device(memory.data(), 8);
    const std::vector<std::span<const std::byte>> in{on_host.first(4), on_device.first(4)};
    const std::vector<std::span<std::byte>> out{on_host.last(4), on_device.last(4)};
    expect_error(outcome_of([&] { alltoallw(comm, in, out); }), ErrorCode::invalid_argument,
                 {"argument in is memory of a device", "memory of the host alone"});
    expect_error(outcome_of([&] { alltoallw(comm, out); }), ErrorCode::invalid_argument, {"argument inout"});
  });
}

/// Memory of another device than the calling rank's.
class MemoryElsewhere {
 public:
  explicit MemoryElsewhere(int device) {
    CUcontext context = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxPushCurrent(context));
    memory_.emplace(bytes_of_all(std::vector<double>(100, 1)));
    check(cuCtxPopCurrent(&context));
  }
  [[nodiscard]] DeviceSpan<double> span() const { return memory_->span<double>(); }

 private:
  std::optional<DeviceMemory> memory_;
};

void expect_refused(const std::vector<std::string>& words, const std::function<void()>& call) {
  expect_error(outcome_of(call), ErrorCode::invalid_argument, words);
}

TEST(DeviceRefusals, MemoryOfAnotherDevice) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(std::vector<double>(100, 1)));
    const DeviceSpan<double> here = memory.span<double>();
    const std::string device = "of device " + std::to_string(2 + comm.rank());
    const MemoryElsewhere elsewhere(2 + comm.rank());
    const auto reduce = [&](DeviceSpan<double> in, DeviceSpan<double> out, const char* algorithm) {
      allreduce(comm, in, out, ReduceOp::max, stream.get(), {.algorithm = algorithm});
    };
    expect_refused({"argument out", device, "argument in"}, [&] { reduce(here, elsewhere.span(), "staged"); });
    allreduce(comm, here, ReduceOp::sum, stream.get());
    stream.wait();
    for (int call = 0; call < 2; ++call) {  // the second time the address is known
      expect_refused({"argument data", device, "dup"},
                     [&] { allreduce(comm, elsewhere.span(), ReduceOp::max, stream.get()); });
    }
    for (const char* const algorithm : {"nccl", "staged"}) {
      expect_refused({"argument in", device, "dup"}, [&] { reduce(elsewhere.span(), here, algorithm); });
      expect_refused({"argument out", device, "dup"}, [&] { reduce(here, elsewhere.span(), algorithm); });
    }
    EXPECT_FALSE(outcome_of([&] { barrier(comm); }).code) << "the communicator is whole";
  });
}

TEST(DeviceRefusals, WhatNcclCannotCarryOutSayWhy) {
  const auto named = [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(std::vector<int>(50, 1)));
    return outcome_of(
        [&] { allreduce(comm, memory.span<int>(), ReduceOp::bitwise_or, stream.get(), {.algorithm = "nccl"}); });
  };
  on_device_ranks(2, Devices::own, [&](const Communicator& comm) {
    expect_error(named(comm), ErrorCode::not_supported, {"allreduce on rank", "NCCL has no such collective"});
  });
  on_device_ranks(2, Devices::shared, [&](const Communicator& comm) {
    expect_error(named(comm), ErrorCode::not_supported,
                 {"allreduce on rank", "ranks share a device; give each rank a device of its own; or leave"});
  });
}

TEST(DeviceRefusals, NothingIsDoneForNoElements) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    allreduce(comm, DeviceSpan<float>(), ReduceOp::sum, Stream());
    synchronize(comm, Stream());
    EXPECT_TRUE(calls("cuStreamCreate").empty());
  });
}

TEST(DeviceFailures, WhileADeviceIsSetUpLeaveNothingBehind) {
  for (const char* const function : {"cuEventCreate", "cuStreamCreate"}) {
    for (int nth = 1; nth <= 2; ++nth) {
      static_cast<void>(Accelerator::of(0));  // its context stays
      const Leaks before = leaks();
      inject({.function = function, .result = CUDA_ERROR_OUT_OF_MEMORY, .nth = nth});
      EXPECT_THROW(static_cast<void>(Accelerator::of(0)), Error);
      EXPECT_EQ(leaks(), before) << function << ' ' << nth;
      clear();
    }
  }
}

/// Else device memory would be taken for the host's from then on.
TEST(DeviceFailures, OfOneQuestionAboutAnAddressIsNotTheEndOfDevices) {
  on_device_ranks(1, Devices::own, [](const Communicator& /*comm*/) {
    const DeviceMemory memory(bytes_of_all(ones()));
    process_uses_cuda = true;
    inject({.function = "cuPointerGetAttributes", .result = CUDA_ERROR_INVALID_CONTEXT});
    EXPECT_FALSE(on_device(memory.data()));
    EXPECT_TRUE(on_device(memory.data()));
  });
}

TEST(DeviceFailures, RanksThatDisagreeAreTold) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    std::vector<float> host = ones();
    const Outcome outcome = outcome_of([&] {
      if (comm.rank() == 0) return allreduce(comm, host, ReduceOp::sum);
      allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
    });
    expect_error(outcome, ErrorCode::mismatch, {"in memory of a device", "rank 0", "rank 1"});
  });
}

TEST(DeviceFailures, CallsAreComparedWhereThatIsAskedFor) {
  const ScopedVariable compare("CHORUS_CHECK", "collective");
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    EXPECT_FALSE(allreduce_outcome(comm, memory, stream).code);
    const Outcome outcome = outcome_of(
        [&] { allreduce(comm, memory.span<float>(), comm.rank() == 0 ? ReduceOp::sum : ReduceOp::max, stream.get()); });
    expect_error(outcome, ErrorCode::mismatch, {"by sum", "by max"});
  });
}

TEST(DeviceFailures, AnErrorOfNcclEndsTheCall) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    EXPECT_FALSE(allreduce_outcome(comm, memory, stream).code);
    barrier(comm);
    const Outcome outcome = outcome_of([&] {
      if (comm.rank() == 0) set_async_error(communicators().front().communicator, 0, ncclRemoteError);
      allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
      synchronize(comm, stream.get());
    });
    EXPECT_TRUE(outcome.code) << "the other rank is told";
    if (comm.rank() == 0) expect_error(outcome, ErrorCode::transport, {"NCCL"});
    stream.wait();  // hangs where nothing was aborted
    EXPECT_EQ(outcome_of([&] { barrier(comm); }).code, ErrorCode::broken);
  });
}

TEST(DeviceFailures, AnErrorOfNcclInACallThatIsInItsStreamEndsTheWait) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    EXPECT_FALSE(allreduce_outcome(comm, memory, stream).code);
    barrier(comm);
    if (comm.rank() != 0) return;
    allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
    set_async_error(communicators().front().communicator, 0, ncclRemoteError);
    expect_error(outcome_of([&] { synchronize(comm, stream.get()); }), ErrorCode::transport, {"NCCL"});
    stream.wait();
  });
}

TEST(DeviceFailures, AnErrorOfNcclEndsAStreamThatIsWaitedForElsewhere) {
  const ScopedVariable timeout("CHORUS_TIMEOUT", "8");
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    EXPECT_FALSE(allreduce_outcome(comm, memory, stream).code);
    barrier(comm);
    if (comm.rank() != 0) return;
    allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
    set_async_error(communicators().front().communicator, 0, ncclRemoteError);
    stream.wait();
    expect_error(allreduce_outcome(comm, memory, stream), ErrorCode::transport, {"NCCL"});  // no timeout
  });
}

/// Of a rank that waited too long, which says so with `words`, or has heard that another one did.
void expect_waited(const Outcome& outcome, const char* words) {
  EXPECT_TRUE(outcome.code == ErrorCode::timeout || outcome.code == ErrorCode::broken) << outcome.text;
  if (outcome.code == ErrorCode::timeout) {
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  }
}

TEST(DeviceFailures, ARankThatDoesNotComeIsNotWaitedForForEver) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    EXPECT_FALSE(allreduce_outcome(comm, memory, stream).code);
    if (comm.rank() != 2) {
      const Outcome outcome = allreduce_outcome(comm, memory, stream, {.timeout = 1s});
      EXPECT_TRUE(outcome.code == ErrorCode::timeout || outcome.code == ErrorCode::broken) << outcome.text;
      stream.wait();
    }
  });
}

TEST(DeviceFailures, AStreamThatIsWaitedForElsewhereGoesOn) {
  const ScopedVariable timeout("CHORUS_TIMEOUT", "8");
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    EXPECT_FALSE(allreduce_outcome(comm, memory, stream).code);
    if (comm.rank() == 2) return;
    const auto call = [&] {
      return outcome_of([&] { allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get()); });
    };
    EXPECT_FALSE(call().code);
    stream.wait();  // hangs where nobody aborts it
    const Outcome outcome = call();
    expect_waited(outcome, "was not over");
  });
}

TEST(DeviceFailures, ACallThatDoesNotReturnFromNcclIsEnded) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    EXPECT_FALSE(allreduce_outcome(comm, memory, stream).code);
    barrier(comm);
    set_stalls(true);
    const auto began = std::chrono::steady_clock::now();
    const Outcome outcome = allreduce_outcome(comm, memory, stream, {.timeout = 1s});
    EXPECT_GE(std::chrono::steady_clock::now() - began, 900ms) << "not before its time";
    expect_waited(outcome, "did not come");
    EXPECT_EQ(outcome_of([&] { barrier(comm); }).code, ErrorCode::broken);
  });
}

TEST(DeviceFailures, ARankThatDoesNotConnectIsNotWaitedForForEver) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    if (comm.rank() == 0) set_never_arrives(1);
    barrier(comm);
    const Outcome outcome = allreduce_outcome(comm, memory, stream, {.timeout = 1s});
    EXPECT_TRUE(outcome.code) << "nobody is connected";
  });
}

TEST(DeviceFailures, OfNcclToGiveAnAddressIsToldOnEveryRank) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    if (comm.rank() == 0) inject({.function = "ncclGetUniqueId", .result = ncclSystemError});
    barrier(comm);
    const Outcome outcome = allreduce_outcome(comm, memory, stream);
    EXPECT_TRUE(outcome.code);
    if (comm.rank() == 0)
      expect_error(outcome, ErrorCode::transport, {"no address to meet at", "NCCL_DEBUG", "CHORUS_NCCL_LIBRARY=none"});
    EXPECT_TRUE(calls("ncclCommInitRankConfig").empty());
  });
}

/// A call that fails once, on one of the devices.
struct FailingCall {
  const char* function;
  int result;
  const char* algorithm;
};

class FailingCalls : public testing::TestWithParam<FailingCall> {};

TEST_P(FailingCalls, AreToldOnEveryRankAndHangNobody) {
  std::barrier<> out_of_the_first(3);  // chorus's own tells who has not left it yet of the failure
  on_device_ranks(3, Devices::own, [&](const Communicator& comm) {
    const FailingCall& failing = GetParam();
    const TestStream stream;
    const std::vector<float> three(150, 1);
    const DeviceMemory memory(bytes_of_all(three));
    const auto call = [&] {
      return outcome_of([&] {
        alltoall(comm, memory.span<float>(), stream.get(), {.algorithm = failing.algorithm});
        synchronize(comm, stream.get());
      });
    };
    EXPECT_FALSE(call().code);
    out_of_the_first.arrive_and_wait();
    if (comm.rank() == 1) inject({.function = failing.function, .result = failing.result, .device = 1});
    const Outcome outcome = call();
    if (comm.rank() == 1) expect_error(outcome, ErrorCode::transport, {"alltoall"});
    EXPECT_TRUE(outcome.code || std::string(failing.algorithm) == "staged") << "rank " << comm.rank();
    stream.wait();
  });
}

INSTANTIATE_TEST_SUITE_P(Every, FailingCalls,
                         testing::Values(FailingCall{"ncclSend", ncclInternalError, "nccl"},
                                         FailingCall{"ncclRecv", ncclSystemError, "nccl"},
                                         FailingCall{"ncclGroupEnd", ncclUnhandledCudaError, "nccl"},
                                         FailingCall{"cuMemAllocAsync", CUDA_ERROR_OUT_OF_MEMORY, "nccl"},
                                         FailingCall{"cuMemcpy2DAsync", CUDA_ERROR_INVALID_VALUE, "staged"},
                                         FailingCall{"cuEventRecord", CUDA_ERROR_ILLEGAL_ADDRESS, "staged"},
                                         FailingCall{"cuEventQuery", CUDA_ERROR_ILLEGAL_ADDRESS, "staged"}),
                         [](const auto& info) {
                           return std::string(info.param.algorithm) + "_" + info.param.function;
                         });

}  // namespace
}  // namespace chorus::test
