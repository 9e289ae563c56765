// SPDX-License-Identifier: Apache-2.0
// What the doubles of CUDA and NCCL cannot show of calls on device memory.
#include "device/device_ranks.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus::test {
namespace {

using Numbers = std::vector<double>;

Outcome sum_of(const Communicator& comm, const DeviceMemory& memory, const TestStream& stream, const char* algorithm) {
  return outcome_of(
      [&] { allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get(), {.algorithm = algorithm}); });
}

class Graphs : public testing::TestWithParam<CUstreamCaptureMode> {};

TEST_P(Graphs, KeepCallsByNcclAndNoOthers) {
  on_device_ranks(1, Devices::own, [](const Communicator& comm) {
    const TestStream stream;
    const DeviceMemory from(bytes_of_all(Numbers(1000, 3))), to(bytes_of_all(Numbers(1000, 0)));
    constexpr int until_events_are_asked = 511;  // by the call that comes after them
    for (int call = 0; call < until_events_are_asked; ++call)
      EXPECT_FALSE(sum_of(comm, to, stream, "nccl").code) << call;
    stream.wait();
    check(cuStreamBeginCapture(stream.native(), GetParam()));
    expect_error(sum_of(comm, to, stream, "staged"), ErrorCode::not_supported, {"captured"});
    allgather(comm, from.span<const double>(), to.span<double>(), stream.get(), {.algorithm = "nccl"});
    CUgraph graph = nullptr;
    check(cuStreamEndCapture(stream.native(), &graph));
    CUgraphExec ready = nullptr;
    check(cuGraphInstantiate(&ready, graph, 0));
    EXPECT_EQ(elements<double>(to), Numbers(1000, 0)) << "captured, not carried out";
    check(cuGraphLaunch(ready, stream.native()));
    stream.wait();
    EXPECT_EQ(elements<double>(to), Numbers(1000, 3));
    check(cuGraphExecDestroy(ready));
    check(cuGraphDestroy(graph));
  });
}
INSTANTIATE_TEST_SUITE_P(InEachMode, Graphs,
                         testing::Values(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                         CU_STREAM_CAPTURE_MODE_RELAXED));

TEST(Pointers, OfTheOtherMemoryAreRefused) {
  on_device_ranks(2, Devices::shared, [](const Communicator& comm) {
    const TestStream stream;
    Numbers host(10, 1);
    const DeviceMemory memory(bytes_of_all(host));
    expect_error(outcome_of([&] { allreduce(comm, DeviceSpan<double>(host.data(), 10), ReduceOp::sum, stream.get()); }),
                 ErrorCode::invalid_argument, {"no memory of a device", "std::span"});
    allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get());
    stream.wait();
    const std::span<double> no_host(reinterpret_cast<double*>(memory.data()), 10);
    expect_error(outcome_of([&] { allreduce(comm, no_host, ReduceOp::sum); }), ErrorCode::invalid_argument,
                 {"memory of a device", "DeviceSpan"});
    EXPECT_EQ(elements<double>(memory), Numbers(10, 2));
  });
}

}  // namespace
}  // namespace chorus::test
