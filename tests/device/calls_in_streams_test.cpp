// SPDX-License-Identifier: Apache-2.0
// How calls that are in streams end where a rank dies, revokes the communicator or does not come.
#include "device/double/double.hpp"
#include "device/vectors_of_ranks.hpp"
#include "transport/threads.hpp"

#include <cuda.h>
#include <gmock/gmock.h>
#include <nccl.h>

#include <barrier>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

/// Two ranks that NCCL has connected for sums, also in a second communicator, which the body may end.
void on_two_communicators(
    const std::function<void(const Communicator&, const Vector&, std::optional<Communicator>&)>& body) {
  std::vector<std::optional<Communicator>> others;
  for (const Communicator& comm : thread_communicators(2)) others.emplace_back(comm);
  on_connected_ranks([&](const Communicator& comm, const Vector& vector) {
    std::optional<Communicator>& other = others[static_cast<std::size_t>(comm.rank())];
    EXPECT_FALSE(vector.outcome(*other, ReduceOp::sum).code);
    barrier(comm);
    body(comm, vector, other);
    other.reset();
  });
}

TEST(CallsInStreams, KeepToTheirLimitsWhereTheirCommunicatorEnds) {
  on_two_communicators([](const Communicator& comm, const Vector& vector, std::optional<Communicator>& other) {
    if (comm.rank() == 0) vector.reduce(*other, ReduceOp::sum, {.timeout = 300ms});
    other.reset();
    vector.stream.wait();
  });
}

/// A lost rank may be in several communicators, and to abort one may wait for what is under way in another.
TEST(CallsInStreams, EndInAllCommunicatorsOfTheDevice) {
  on_two_communicators([](const Communicator& comm, const Vector& vector, std::optional<Communicator>& other) {
    if (comm.rank() == 1) return;
    const Vector second;
    set_abort_waits(true);
    vector.reduce(comm, ReduceOp::sum, {.timeout = 300ms});
    second.reduce(*other, ReduceOp::sum, {.timeout = 300ms});
    vector.stream.wait();
    second.stream.wait();
  });
}

TEST(CallsInStreams, ThatARankDoesNotMakeAreToldWithTheRank) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) return;
    set_stalls(true);
    expect_error(vector.outcome(comm, ReduceOp::max, {.timeout = 300ms}), ErrorCode::timeout,
                 {"not arrived: rank 1", "1 of 2 that go into streams"});
  });
}

TEST(CallsInStreams, OfARankThatHasEndedAreNotWaitedFor) {
  on_two_communicators([](const Communicator& comm, const Vector& vector, std::optional<Communicator>& other) {
    if (comm.rank() == 1) return other.reset();
    expect_error(vector.outcome(*other, ReduceOp::sum), ErrorCode::mismatch, {"rank 1", "has ended with it"});
    vector.stream.wait();
  });
}

/// Whoever waits by the stream alone, and has set no limit.
TEST(CallsInStreams, EndWhereARankIsLost) {
  ThreadWorld world({.ranks = 2});
  std::barrier<> both(2);
  on_connected_ranks(world, [&](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) {
      both.arrive_and_wait();
      return world.lose(1, "killed by signal 9");
    }
    vector.reduce(comm, ReduceOp::sum);
    both.arrive_and_wait();
    vector.stream.wait();  // hangs where nobody aborts it
    expect_error(vector.outcome(comm, ReduceOp::sum), ErrorCode::peer_lost, {"rank 1 is lost: killed by signal 9"});
  });
}

TEST(CallsInStreams, WithLimitsEndWhereARankIsLostWhileTheirCommunicatorEnds) {
  ThreadWorld world({.ranks = 2});
  std::barrier<> both(2);
  on_device_ranks(2, Devices::own, [&](const Communicator& comm) {
    const Vector vector;
    std::optional<Communicator> ending = world.communicator(comm.rank());
    EXPECT_FALSE(vector.outcome(*ending, ReduceOp::sum).code);
    if (comm.rank() == 0) vector.reduce(*ending, ReduceOp::sum, {.timeout = 100s});
    both.arrive_and_wait();
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(300ms);  // the other is on its way into the end
      return world.lose(1, "killed by signal 9");
    }
    ending.reset();
    vector.stream.wait();
  });
}

TEST(CallsInStreams, EndWhereTheCommunicatorIsRevoked) {
  std::barrier<> both(2);
  on_connected_ranks([&](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) {
      both.arrive_and_wait();
      return comm.revoke("rank 1 has found a mistake");
    }
    vector.reduce(comm, ReduceOp::sum);
    both.arrive_and_wait();
    vector.stream.wait();
    expect_error(vector.outcome(comm, ReduceOp::sum), ErrorCode::revoked, {"rank 1 has found a mistake"});
  });
}

TEST(CallsInStreams, EndWhereOtherRanksDisagreeAboutACall) {
  on_device_ranks(3, Devices::own, [](const Communicator& comm) {
    const Vector vector;
    EXPECT_FALSE(vector.outcome(comm, ReduceOp::sum).code);
    barrier(comm);
    if (comm.rank() == 2) {
      vector.reduce(comm, ReduceOp::sum);
      vector.stream.wait();
      return expect_error(vector.outcome(comm, ReduceOp::sum), ErrorCode::mismatch,
                          {"the ranks disagree about a call"});
    }
    std::vector<float> on_the_host(Vector::count);
    const Outcome outcome =
        outcome_of([&] { allreduce(comm, on_the_host, comm.rank() == 0 ? ReduceOp::sum : ReduceOp::max); });
    expect_error(outcome, ErrorCode::mismatch, {"the ranks disagree about call"});
  });
}

TEST(CallsInStreams, FailInWhateverCallIsNext) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 0) {
      vector.reduce(comm, ReduceOp::sum, {.timeout = 300ms});
      vector.stream.wait();
    }
    expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::timeout, {"was not over in its stream after 0.3 s"});
  });
}

TEST(CallsInStreams, FailInCallsThatAreUnderWay) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 0) {
      vector.reduce(comm, ReduceOp::sum);
      set_async_error(communicators().front().communicator, 0, ncclRemoteError);
      expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::transport, {"NCCL", "remote"});
    } else {
      std::this_thread::sleep_for(300ms);  // the other is in its barrier
      expect_error(vector.outcome(comm, ReduceOp::sum), ErrorCode::transport, {"rank 0 gave up", "remote"});
    }
    vector.stream.wait();
  });
}

/// Rank 1 may have what it needs before rank 0 notices.
TEST(CallsInStreams, FailInStagedOnesBehindThem) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 0) {
      vector.reduce(comm, ReduceOp::sum);
      set_async_error(communicators().front().communicator, 0, ncclRemoteError);
    }
    const Outcome staged = vector.outcome(comm, ReduceOp::sum, {.algorithm = "staged"});
    EXPECT_TRUE(staged.code || comm.rank() == 1);
    EXPECT_TRUE(outcome_of([&] { barrier(comm); }).code) << "rank " << comm.rank();
    vector.stream.wait();
  });
}

/// Rank 1 may have what it needs before rank 0 gives up.
TEST(CallsInStreams, FailInRequestsThatArePending) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    std::vector<float> on_the_host(1'000'000, 1);
    if (comm.rank() == 0) vector.reduce(comm, ReduceOp::sum, {.timeout = 2s});  // over after the next call
    Request request = iallreduce(comm, on_the_host, ReduceOp::sum);
    if (comm.rank() == 0) {
      vector.stream.wait();
      expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::timeout, {"was not over in its stream"});
    }
    const bool failed = outcome_of([&] { request.wait(); }).code.has_value();
    EXPECT_TRUE(failed || comm.rank() == 1);
    EXPECT_TRUE(failed || on_the_host == std::vector(on_the_host.size(), 2.0F));
    EXPECT_TRUE(outcome_of([&] { barrier(comm); }).code) << "rank " << comm.rank();
  });
}

TEST(CallsInStreams, FailAtTheEndThoughNobodyHasLookedAtThemYet) {
  testing::internal::CaptureStderr();
  on_two_communicators([](const Communicator& comm, const Vector& vector, std::optional<Communicator>& other) {
    if (comm.rank() == 1) return;
    vector.reduce(*other, ReduceOp::sum);
    for (const auto& nccl : communicators()) set_async_error(nccl.communicator, 0, ncclRemoteError);
    other.reset();
    vector.stream.wait();
  });
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("chorus: rank 0: NCCL was aborted"));
}

TEST(CallsInStreams, KeepNobodyFromHearingOfTheEnd) {
  on_two_communicators([](const Communicator& comm, const Vector& vector, std::optional<Communicator>& other) {
    if (comm.rank() == 1) {
      return expect_error(outcome_of([&] { barrier(*other); }), ErrorCode::mismatch, {"rank 0", "has ended with it"});
    }
    vector.reduce(*other, ReduceOp::sum, {.timeout = 2s});
    other.reset();
    vector.stream.wait();
  });
}

/// Expects that rank 0 says at the end that its call was not over after its limit, and tells the other.
void expect_told_at_the_end(const std::function<void(const Vector&, std::optional<Communicator>&)>& wait) {
  std::barrier<> other_has_ended(2);
  testing::internal::CaptureStderr();
  on_two_communicators([&](const Communicator& comm, const Vector& vector, std::optional<Communicator>& other) {
    if (comm.rank() == 1) {
      other_has_ended.arrive_and_wait();
      expect_error(vector.outcome(*other, ReduceOp::sum), ErrorCode::timeout, {"rank 0 gave up", "not over"});
      return;
    }
    vector.reduce(*other, ReduceOp::sum, {.timeout = 300ms});
    wait(vector, other);
    other.reset();
    other_has_ended.arrive_and_wait();
  });
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("chorus: rank 0: NCCL was aborted, and results of calls"),
                             testing::HasSubstr("was not over in its stream after 0.3 s")));
}

TEST(CallsInStreams, ThatNoOtherFollowsFailAtTheEnd) {
  expect_told_at_the_end([](const Vector& vector, const auto& /*other*/) { vector.stream.wait(); });
}

TEST(CallsInStreams, ThatAreEndedAtTheEndFailThere) {
  expect_told_at_the_end([](const Vector& vector, std::optional<Communicator>& other) {
    other.reset();
    vector.stream.wait();
  });
}

TEST(CallsInStreams, EndWhereNcclFails) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) return;
    vector.reduce(comm, ReduceOp::sum);
    set_async_error(communicators().front().communicator, 0, ncclRemoteError);
    vector.stream.wait();
    expect_error(vector.outcome(comm, ReduceOp::sum), ErrorCode::transport, {"NCCL", "remote"});
  });
}

TEST(CallsInStreams, AreAbortedWhereTheDriverGivesNoContextToIt) {
  std::barrier<> both(2);
  on_connected_ranks([&](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) return both.arrive_and_wait();
    vector.reduce(comm, ReduceOp::sum);
    inject({.function = "cuCtxPushCurrent", .result = CUDA_ERROR_OUT_OF_MEMORY, .times = 1000});
    comm.revoke("rank 0 has found a mistake");
    vector.stream.wait();
    clear();  // for the rest
    both.arrive_and_wait();
  });
}

TEST(CallsInStreams, KeepToTheirOwnLimits) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) return;
    vector.reduce(comm, ReduceOp::sum, {.timeout = 60s});
    vector.reduce(comm, ReduceOp::sum, {.timeout = 300ms});
    vector.stream.wait();  // hangs where nobody aborts it
    expect_error(vector.outcome(comm, ReduceOp::sum), ErrorCode::timeout, {"was not over in its stream after 0.3 s"});
  });
}

using Way = std::tuple<const char*, Devices>;
class EndOfACommunicator : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Every, EndOfACommunicator,
                         testing::Values(Way("nccl", Devices::own), Way("staged", Devices::own)),
                         [](const auto& info) { return std::string(std::get<0>(info.param)); });
#if CHORUS_HAS_KERNELS
INSTANTIATE_TEST_SUITE_P(Windows, EndOfACommunicator, testing::Values(Way("ipc_one_shot", Devices::shared)),
                         [](const auto& info) { return std::string(std::get<0>(info.param)); });
#endif

TEST_P(EndOfACommunicator, DisturbsNoCaptureForAGraph) {
  const auto& [algorithm, devices] = GetParam();
  std::vector<std::optional<Communicator>> all;
  for (const Communicator& comm : thread_communicators(2)) all.emplace_back(comm);
  on_device_ranks(2, devices, [&, algorithm = algorithm](const Communicator& comm) {
    std::optional<Communicator>& ending = all[static_cast<std::size_t>(comm.rank())];
    const Vector vector;
    const TestStream captured;
    EXPECT_FALSE(vector.outcome(*ending, ReduceOp::sum, {.algorithm = algorithm, .timeout = 100s}).code);
    barrier(comm);
    if (comm.rank() == 0) begin_capture(captured.native(), CaptureMode::global);
    barrier(comm);
    ending.reset();
    barrier(comm);
    if (comm.rank() == 0) {
      EXPECT_EQ(end_capture(captured.native()), CUDA_SUCCESS);
    }
    barrier(comm);
  });
}

}  // namespace
}  // namespace chorus::test
