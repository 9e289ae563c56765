// SPDX-License-Identifier: Apache-2.0
// Where a rank has no window, or cannot open another's, all do without; where a call fails later, all hear of it.
#include "device/cuda.hpp"
#include "device/device_ranks.hpp"
#include "device/device_world.hpp"
#include "device/double/double.hpp"
#include "device/window_memory.hpp"
#include "transport/communicator_state.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

std::vector<float> ones() { return std::vector<float>(100, 1); }

/// Calls by the algorithm that is chosen, and then by a named one, which needs windows: they must not be there.
void check_without_windows(const Communicator& comm, const std::string& why) {
  const TestStream stream;
  const DeviceMemory memory(bytes_of_all(ones()));
  allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get());
  synchronize(comm, stream.get());
  EXPECT_EQ(elements<float>(memory), std::vector<float>(100, static_cast<float>(comm.size())));
  for (const char* algorithm : {"ipc_one_shot", "ipc_two_shot"}) {
    expect_error(outcome_of([&] {
                   allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get(), {.algorithm = algorithm});
                 }),
                 ErrorCode::not_supported, {algorithm, "cannot carry out"});
  }
  const std::vector<std::string>& notes = comm.state().notes();
  EXPECT_TRUE(std::ranges::any_of(notes, [&](const std::string& note) { return note.find(why) != std::string::npos; }))
      << notes.back();
  EXPECT_TRUE(calls("cuLaunchKernel").empty());
}

class MissingWindows : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, MissingWindows, testing::Values("cuIpcGetMemHandle", "cuMemAlloc"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(MissingWindows, OnOneRankAreMissingOnAll) {
  on_device_ranks(4, Devices::shared, [](const Communicator& comm) {
    // Of memory the test's own comes first: one of each rank.
    const int nth = std::string(GetParam()) == "cuMemAlloc" ? 4 + 2 : 2;
    if (comm.rank() == 0) inject({.function = GetParam(), .result = CUDA_ERROR_NOT_SUPPORTED, .nth = nth});
    barrier(comm);
    check_without_windows(comm, "operation not supported");
  });
}

TEST(WindowsRefused, WhereDevicesDoNotReachOneAnother) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    if (comm.rank() == 0) set_peer_access(false);
    barrier(comm);
    check_without_windows(comm, "does not reach device");
  });
}

TEST(WindowsRefused, WhereOneRankMayNotReachAnother) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    if (comm.rank() == 0) {
      inject({.function = "cuCtxEnablePeerAccess", .result = CUDA_ERROR_TOO_MANY_PEERS, .device = 1});
    }
    barrier(comm);
    check_without_windows(comm, "rank 1: CUDA cannot let a device reach");
  });
}

using Failing = std::tuple<const char*, const char*>;  // algorithm, function
class FailingWindows : public testing::TestWithParam<Failing> {};
INSTANTIATE_TEST_SUITE_P(Every, FailingWindows,
                         testing::Combine(testing::Values("ipc_one_shot", "ipc_two_shot"),
                                          testing::Values("cuLaunchKernel", "cuMemcpyDtoDAsync", "cuEventRecord",
                                                          "cuEventQuery", "cuStreamWaitEvent")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

TEST_P(FailingWindows, AreToldOnEveryRankAndHangNobody) {
  const auto& [algorithm, function] = GetParam();
  std::barrier<> out_of_the_first(4);  // chorus's own tells who has not left it yet of the failure
  on_device_ranks(4, Devices::own, [&, algorithm = algorithm, function = function](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(ones()));
    const auto call = [&] {
      return outcome_of(
          [&] { allreduce(comm, memory.span<float>(), ReduceOp::sum, stream.get(), {.algorithm = algorithm}); });
    };
    EXPECT_FALSE(call().code);
    stream.wait();
    out_of_the_first.arrive_and_wait();
    if (comm.rank() == 1) inject({.function = function, .result = CUDA_ERROR_ILLEGAL_ADDRESS, .device = 1});
    Outcome outcome = call();
    if (comm.rank() == 1) expect_error(outcome, ErrorCode::transport, {"allreduce", "illegal memory access"});
    if (!outcome.code) outcome = call();  // who has done its part hears of it in the next call
    EXPECT_TRUE(outcome.code) << "rank " << comm.rank();
    stream.wait();
  });
}

TEST(WindowMemory, IsNotClosedByAChild) {
  begin_world();
  take_device(0);
  const auto window = [] {
    return std::make_unique<WindowMemory>(context_of(0), 0, this_process(), std::size_t{1} << 20U, 2);
  };
  std::unique_ptr<WindowMemory> mine = window(), others = window();
  for (const auto* opened : {&mine, &others}) (*opened)->open({mine->address(), others->address()});
  const pid_t child = fork();
  if (child == 0) {
    others.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  mine.reset();
  EXPECT_TRUE(calls("cuMemFree").empty()) << "the other has it open";
  others.reset();
  EXPECT_EQ(calls("cuMemFree").size(), 2U);
}

}  // namespace
}  // namespace chorus::test
