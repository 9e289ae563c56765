// SPDX-License-Identifier: Apache-2.0
// How calls on device memory end on the ranks that wait for one that dies, revokes the communicator or does not come.
#include "device/device_ranks.hpp"
#include "device/double/double.hpp"
#include "transport/threads.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <nccl.h>

#include <barrier>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t count = 50;

/// A rank's stream and memory.
struct Vector {
  TestStream stream;
  DeviceMemory memory{bytes_of_all(std::vector<float>(count, 1))};

  void reduce(const Communicator& comm, ReduceOp op, const CollectiveOptions& options = {}) const {
    allreduce(comm, memory.span<float>(), op, stream.get(), options);
  }
  [[nodiscard]] Outcome outcome(const Communicator& comm, ReduceOp op, const CollectiveOptions& options = {}) const {
    return outcome_of([&] {
      reduce(comm, op, options);
      synchronize(comm, stream.get());
    });
  }
};

/// Where the others are when they lose a rank.
struct Place {
  const char* name;
  const char* algorithm;
  bool inside = false;  ///< NCCL, which connects the ranks for a call of a new kind
};

class LostRank : public testing::TestWithParam<Place> {};

TEST_P(LostRank, IsToldAndHangsNobody) {
  const Place& place = GetParam();
  constexpr int ranks = 3;
  ThreadWorld world({.ranks = ranks});
  const auto make = [&world] {
    std::vector<Communicator> communicators;
    for (int rank = 0; rank < ranks; ++rank) communicators.push_back(world.communicator(rank));
    return communicators;
  };
  std::barrier<> out_of_the_first(ranks);
  on_device_ranks(make, Devices::own, [&](const Communicator& comm) {
    const Vector vector;
    const CollectiveOptions options{.algorithm = place.algorithm};
    EXPECT_FALSE(vector.outcome(comm, ReduceOp::sum, options).code);
    if (place.inside) set_stalls(true);
    out_of_the_first.arrive_and_wait();
    if (comm.rank() == 2) return world.lose(2, "killed by signal 9");
    const Outcome outcome = vector.outcome(comm, place.inside ? ReduceOp::max : ReduceOp::sum, options);
    expect_error(outcome, ErrorCode::peer_lost, {"rank 2 is lost: killed by signal 9"});
    vector.stream.wait();
    EXPECT_EQ(outcome_of([&] { barrier(comm); }).code, ErrorCode::broken);
  });
}

const Place places[] = {{"staged", "staged"},
                        {"in_the_stream", "nccl"},
#if CHORUS_HAS_KERNELS
                        {"windows", "ipc_one_shot"},
#endif
                        {"inside", "nccl", true}};
INSTANTIATE_TEST_SUITE_P(Every, LostRank, testing::ValuesIn(places),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CallsThatConnectRanks, ArePutByAnotherThreadAndLaterOnesByTheCallers) {
  on_device_ranks(2, Devices::own, [](const Communicator& comm) {
    const Vector vector;
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::sum, ReduceOp::max}) vector.reduce(comm, op);
    synchronize(comm, vector.stream.get());
    const std::string label = "rank " + std::to_string(comm.rank());
    std::vector<std::string> ops;
    for (const DeviceCall& call : calls("ncclAllReduce")) {
      if (call.label == label) ops.push_back(call.op);
    }
    EXPECT_EQ(ops, std::vector<std::string>{"sum"}) << "the second";
  });
}

/// Two ranks that NCCL has connected for sums.
void on_connected_ranks(const std::function<void(const Communicator&, const Vector&)>& body) {
  on_device_ranks(2, Devices::own, [&](const Communicator& comm) {
    const Vector vector;
    EXPECT_FALSE(vector.outcome(comm, ReduceOp::sum).code);
    barrier(comm);
    body(comm, vector);
  });
}

TEST(CallsThatConnectRanks, KeepToTheLimitOfTheCall) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    set_stalls(true);
    const Outcome outcome = vector.outcome(comm, ReduceOp::max, {.timeout = 300ms});
    EXPECT_TRUE(outcome.code) << "rank " << comm.rank();
    if (outcome.code == ErrorCode::timeout) {
      expect_error(outcome, ErrorCode::timeout, {"has waited 0.3 s", "allreduce", "NCCL to connect the ranks"});
    }
    EXPECT_EQ(outcome_of([&] { barrier(comm); }).code, ErrorCode::broken);
  });
}

TEST(CallsThatConnectRanks, EndWhereTheCommunicatorIsRevoked) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    set_stalls(true);
    if (comm.rank() == 1) return comm.revoke("rank 1 has found a mistake");
    expect_error(vector.outcome(comm, ReduceOp::max), ErrorCode::revoked, {"rank 1 has found a mistake"});
    vector.stream.wait();
  });
}

TEST(CallsThatConnectRanks, EndWhereNcclFails) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    set_stalls(true);
    if (comm.rank() == 1) {
      while (calls("ncclAllReduce").back().op != "max") std::this_thread::sleep_for(1ms);
      return set_async_error(communicators().front().communicator, 0, ncclRemoteError);
    }
    expect_error(vector.outcome(comm, ReduceOp::max), ErrorCode::transport, {"NCCL", "remote"});
    vector.stream.wait();
  });
}

TEST(CallsInsideNccl, EndWhereNcclFails) {
  std::barrier<> both(2);
  on_connected_ranks([&](const Communicator& comm, const Vector& vector) {
    set_stalls(true);
    if (comm.rank() == 1) {
      const std::size_t before = calls("ncclAllReduce").size();
      both.arrive_and_wait();
      while (calls("ncclAllReduce").size() == before) std::this_thread::sleep_for(1ms);
      return set_async_error(communicators().front().communicator, 0, ncclRemoteError);
    }
    both.arrive_and_wait();
    expect_error(vector.outcome(comm, ReduceOp::sum, {.timeout = 60s}), ErrorCode::transport, {"NCCL", "remote"});
    vector.stream.wait();
  });
}

TEST(CallsInsideNccl, EndWhereOneBeforeThemIsLate) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) return;
    vector.reduce(comm, ReduceOp::sum, {.timeout = 300ms});
    set_stalls(true);
    expect_error(vector.outcome(comm, ReduceOp::sum, {.timeout = 60s}), ErrorCode::timeout,
                 {"was not over in its stream after 0.3 s"});
    vector.stream.wait();
  });
}

/// The operation that NCCL made for it ends with NCCL's communicator, and is not given back to it.
TEST(CallsInsideNccl, TouchNothingThatHasBeenAborted) {
  on_connected_ranks([](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) return;
    set_stalls(true);
    const Outcome outcome = outcome_of([&] {
      allreduce(comm, vector.memory.span<float>(), PremultipliedSum<float>{2}, vector.stream.get(), {.timeout = 300ms});
    });
    expect_error(outcome, ErrorCode::timeout, {"did not come to allreduce", "within 0.3 s"});
    EXPECT_TRUE(calls("ncclRedOpDestroy").empty());
  });
}

TEST(CallsInStreams, KeepToTheirLimitsWhereTheirCommunicatorEnds) {
  std::vector<std::optional<Communicator>> others;
  for (const Communicator& comm : thread_communicators(2)) others.emplace_back(comm);
  on_connected_ranks([&](const Communicator& comm, const Vector& vector) {
    std::optional<Communicator>& other = others[static_cast<std::size_t>(comm.rank())];
    EXPECT_FALSE(vector.outcome(*other, ReduceOp::sum).code);
    barrier(comm);
    if (comm.rank() == 0) vector.reduce(*other, ReduceOp::sum, {.timeout = 300ms});
    other.reset();
    vector.stream.wait();
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

}  // namespace
}  // namespace chorus::test
