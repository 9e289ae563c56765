// SPDX-License-Identifier: Apache-2.0
// How calls on device memory end on the ranks that wait for one that dies, revokes the communicator or does not come,
// as long as the host is in them.
#include "device/device_world.hpp"
#include "device/double/double.hpp"
#include "device/nccl.hpp"
#include "device/nccl_calls.hpp"
#include "device/nccl_thread.hpp"
#include "device/vectors_of_ranks.hpp"
#include "transport/threads.hpp"

#include <nccl.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

/// Where the others are when they lose a rank.
struct Place {
  const char* name;
  const char* algorithm;
  bool inside = false;  ///< NCCL, which connects the ranks for a call of a new kind
  int ahead = 0;        ///< so many calls that the lost rank does not make are in the stream, and NCCL waits for room
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
  std::barrier<> out_of_the_first(ranks), others_wait(ranks);
  on_device_ranks(make, Devices::own, [&](const Communicator& comm) {
    const Vector vector;
    const CollectiveOptions options{.algorithm = place.algorithm};
    EXPECT_FALSE(vector.outcome(comm, ReduceOp::sum, options).code);
    if (place.inside) set_stalls(true);
    out_of_the_first.arrive_and_wait();
    if (comm.rank() == 2) {
      others_wait.arrive_and_wait();
      return world.lose(2, "killed by signal 9");
    }
    for (int call = 0; call < place.ahead; ++call) vector.reduce(comm, ReduceOp::sum, options);
    others_wait.arrive_and_wait();
    if (place.ahead > 0) set_stalls(true);
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
                        {"inside", "nccl", true},
                        {"inside_far_ahead", "nccl", false, 600}};
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

TEST(CallsThatConnectRanks, SayHowToDoWithoutNccl) {
  on_device_ranks(1, Devices::own, [](const Communicator& comm) {
    inject({.function = "ncclCommInitRankConfig", .result = ncclSystemError});
    expect_error(Vector().outcome(comm, ReduceOp::sum), ErrorCode::transport,
                 {"allreduce", "NCCL_DEBUG", "with CHORUS_NCCL_LIBRARY=none calls go other ways"});
  });
}

TEST(CallsThatConnectRanks, EndWhereTheirThreadHasNoMemory) {
  NcclThread thread(nullptr, []() -> ncclComm_t { throw std::bad_alloc(); });
  EXPECT_TRUE(thread.wait_for(60s));
  expect_error(outcome_of([&] { static_cast<void>(thread.take()); }), ErrorCode::transport, {"bad_alloc"});
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

/// Else the calling thread's next calls would be put into it, and never begin.
TEST(CallsInsideNccl, OpenNoGroupInWhatHasBeenAborted) {
  begin_world();
  take_device(0);
  ncclUniqueId id{};
  ncclComm_t comm = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ASSERT_EQ(nccl().get_unique_id(&id), ncclSuccess);
  ASSERT_EQ(nccl().comm_init_rank_config(&comm, 1, id, 0, &config), ncclSuccess);
  const auto is_aborted = std::make_shared<std::atomic<bool>>(false);
  const NcclCalls nccl_calls(comm, is_aborted);
  is_aborted->store(true);
  const Vector vector;
  const Native::Buffers in_place{.in = vector.memory.data(), .out = vector.memory.data()};
  const Call call{.collective = Collective::alltoall, .type = DataType::float32, .count = Vector::count};
  EXPECT_THROW(nccl_calls.put(call, in_place, nullptr, vector.stream.native()), Error);
  EXPECT_TRUE(calls("ncclGroupStart").empty());
  EXPECT_EQ(nccl().comm_abort(comm), ncclSuccess);
}

TEST(CallsInsideNccl, EndWhereARankIsLost) {
  ThreadWorld world({.ranks = 2});
  on_connected_ranks(world, [&](const Communicator& comm, const Vector& vector) {
    if (comm.rank() == 1) return world.lose(1, "killed by signal 9");
    set_stalls(true);
    expect_error(vector.outcome(comm, ReduceOp::sum), ErrorCode::peer_lost, {"rank 1 is lost: killed by signal 9"});
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

}  // namespace
}  // namespace chorus::test
