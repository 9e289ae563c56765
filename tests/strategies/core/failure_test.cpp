// SPDX-License-Identifier: Apache-2.0
// Replicas that fail while others wait for them.
#include "core/replicas.hpp"
#include "worlds/outcome.hpp"

#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

/// Makes `call`, which may give up; replica `late` comes only when another one has.
void call_late(int late, std::atomic<bool>& gave_up, const auto& call) {
  while (id() == late && !gave_up) std::this_thread::yield();
  try {
    call();
  } catch (const Error&) {
    gave_up = true;
    throw;
  }
}

/// What the first of the others is told that gives up, where replica `late` never makes their second call. Who has
/// given up can call no more in the run; the strategy works again after it.
std::string told_of_late(std::unique_ptr<CrossDeviceOps> ops, int replicas, int late, bool calls_before) {
  constexpr std::chrono::milliseconds limit(500);
  MirroredStrategy strategy = mirrored(replicas, std::move(ops), {.timeout = limit});
  std::atomic<int> gave_up = 0;
  std::string told;
  const auto reduce = [&] {
    ReplicaContext& replica = *get_replica_context();
    const auto wait_for_others = [&] {
      while (gave_up < replicas - 1) std::this_thread::yield();
    };
    try {
      if (calls_before) std::ignore = replica.all_reduce(ReduceOp::max, 1);
      if (id() == late) return wait_for_others();
      std::ignore = replica.all_reduce(ReduceOp::sum, 1);
      ADD_FAILURE() << "reduced without replica " << late;
    } catch (const Error& error) {
      if (id() != late && gave_up.fetch_add(1) == 0) told = error.what();
      wait_for_others();
      EXPECT_THROW(std::ignore = replica.all_reduce(ReduceOp::sum, 1), Error);
      throw;
    }
  };
  const Outcome outcome = outcome_of([&] { strategy.run(reduce); });
  EXPECT_TRUE(outcome.code);
  EXPECT_GE(outcome.took, limit);
  EXPECT_EQ(strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 1); })[0], replicas);
  return told;
}

TEST_P(WithSeveralReplicas, Case82_AReplicaThatNeverCallsIsNamedWithItsLastCallAfterTheTimeout) {
  for (const int which : {0, 1, 2}) {
    const auto ops = [&]() -> std::unique_ptr<CrossDeviceOps> {
      if (which == 0) return std::make_unique<CollectiveAllReduce>();
      if (which == 1) return std::make_unique<ReductionToOneDevice>();
      return std::make_unique<HierarchicalCopyAllReduce>();
    };
    EXPECT_THAT(told_of_late(ops(), replicas(), 0, false),
                testing::HasSubstr("in all_reduce by sum for replica 0, which has made no call in this run"));
    EXPECT_THAT(told_of_late(ops(), replicas(), last(), true),
                testing::AllOf(testing::HasSubstr("in all_reduce by sum for replica "),
                               testing::HasSubstr("replica " + std::to_string(last()) +
                                                  ", whose last call was all_reduce by max")));
  }
}

TEST(Failure, TheTimeoutOfARunHoldsForAllInIt) {
  const RunOptions options{.communication = {.timeout = std::chrono::milliseconds(500)}};
  MirroredStrategy strategy = mirrored(2);
  const auto expect_timeout_of = [&](int late, const std::string& text, const auto& call) {
    std::atomic<bool> gave_up = false;
    expect_error(ErrorCode::timeout, text, [&] { strategy.run(options, [&] { call(late, gave_up); }); });
  };
  const auto never = [](const auto& call) {
    return [&call](int late, std::atomic<bool>& gave_up) {
      call_late(late, gave_up, [&] {
        if (id() != late) call();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other one leaves the run first
      });
    };
  };
  for (const int late : {0, 1}) {
    expect_timeout_of(late, "", never([] { get_replica_context()->merge_call([](Strategy&) {}); }));
    expect_timeout_of(late, "", never([] { std::ignore = get_replica_context()->all_gather(std::vector<int>(1), 0); }));
    expect_timeout_of(late, "", never([] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1); }));
  }
  expect_timeout_of(1, "in all_reduce by max for replica 1, whose last call was all_reduce by sum",
                    [](int late, std::atomic<bool>& gave_up) {
                      std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1);
                      call_late(late, gave_up,
                                [] { std::ignore = get_replica_context()->all_reduce(ReduceOp::max, 1); });
                    });
  expect_timeout_of(0, "in merge_call for replica 0, which has made no call in this run",
                    [](int late, std::atomic<bool>& gave_up) {
                      call_late(late, gave_up, [] { get_replica_context()->merge_call([](Strategy&) {}); });
                    });
  const auto gather = [&] {
    std::ignore = get_replica_context()->all_gather(std::vector<int>(1), 0, options.communication);
  };
  const auto gathers = never(gather);
  for (const int late : {0, 1}) {
    std::atomic<bool> gave_up = false;
    expect_error(ErrorCode::timeout, "", [&] { strategy.run([&] { gathers(late, gave_up); }); });
  }
  const auto ends_late = [] {
    if (id() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  };
  expect_error(ErrorCode::timeout, "", [&] { strategy.run(options, ends_late); });
  strategy.run(ends_late);  // it held for those runs
}

TEST(Failure, AReplicaThatComesAfterTheOthersGaveUpReadsNothingOfTheirs) {
  MirroredStrategy strategy =
      mirrored(2, std::make_unique<ReductionToOneDevice>(), {.timeout = std::chrono::milliseconds(200)});
  std::atomic<bool> gave_up = false;
  std::atomic<bool> reduced = false;
  const auto late = [&] {
    try {
      call_late(0, gave_up, [&] {
        std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, std::vector<double>(1000, 1));
        reduced = true;
      });
    } catch (const Error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the late one comes while this one is being revoked
      throw;
    }
  };
  expect_error(ErrorCode::timeout, "", [&] { strategy.run(late); });
  EXPECT_FALSE(reduced);
}

TEST_P(WithReplicas, ManyRunsThatFailSomewhereAreFollowedByOnesThatWork) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<int> v(0, {.aggregation = VariableAggregation::sum});
  for (int round = 0; round < 40; ++round) {
    const auto fails = [&] {
      for (int call = 0; call < 5; ++call) {
        if (id() == round % replicas() && call == round % 5) throw std::runtime_error("here");
        if (call % 2 == 0) {
          std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, std::vector<float>(100, 1));
        } else {
          std::ignore = get_replica_context()->merge_call(
              [](Strategy&, const PerReplica<std::string>& texts) {
                return texts[static_cast<std::size_t>(last())] + texts[0];
              },
              std::tuple(std::string(100, 'a')));
        }
        v.assign_add(1);
      }
    };
    EXPECT_THROW(strategy.run(fails), std::runtime_error);
    const auto ones = strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 1); });
    EXPECT_THAT(ones.values(), testing::Each(replicas()));
  }
}

TEST_P(WithSeveralReplicas, AReplicaThatLeavesTheRunIsNamedToTheOneThatReduces) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> v(0.0, {.aggregation = VariableAggregation::sum});
  const Variable<double> first(0.0, {.aggregation = VariableAggregation::only_first_replica});
  const auto expect_place = [&](const char* place, const auto& call) {
    const auto leaves = [&] {
      if (id() != 1) call();
    };
    expect_error(ErrorCode::mismatch, place, [&] { strategy.run(leaves); });
    EXPECT_EQ(strategy.run(id)[1], 1) << "works again";
  };
  expect_place("replica 0 to all_reduce by sum, replica 1 to the end of the function, where it leaves the run",
               [] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1.0); });
  expect_place("replica 0 to all_reduce by sum, replica 1 to the end of the function",
               [] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, std::vector<float>(100'000)); });
  expect_place("replica 0 to Variable::assign of \"variable\", replica 1 to the end", [&] { v.assign(1); });
  expect_place("where it leaves the run", [&] { first.assign(1); });
}

TEST_P(WithSeveralReplicas, DifferentShapesInOnePlaceAreStillToldAsSuch) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto unequal = [] {
    std::ignore =
        get_replica_context()->all_reduce(ReduceOp::sum, std::vector<float>(static_cast<std::size_t>(1 + id())));
  };
  expect_error(ErrorCode::mismatch, "all_reduce by sum with different tensors: replica 0 with float32 (1), replica 1 ",
               [&] { strategy.run(unequal); });
}

TEST(Failure, AReplicaThatGivesUpWaitsUntilNobodyLooksAtItsStack) {
  for (int round = 0; round < 5; ++round) {
    MirroredStrategy strategy = mirrored(3);
    ReplicaGroup& group = strategy.extended().group();
    std::atomic<bool> reading{false};
    std::atomic<bool> left{false};
    std::atomic<bool> looked_after{false};
    const auto gives_up = [&] {
      const int local = get_replica_context()->local_replica();
      struct OnStack {
        std::atomic<bool>& left;
        int value = 7;
        ~OnStack() {
          value = 0;
          left = true;
        }
      };
      if (local == 1) {
        const OnStack mine{left};
        group.meet(local, {"a meeting", {}}, &mine.value);
        while (!reading) std::this_thread::yield();
        group.meet(local, {"the next", {}, std::chrono::milliseconds(20)});
      }
      const auto all = group.meet(local, {"a meeting", {}});
      if (local == 0) {
        const ReplicaGroup::Reading now(group);
        reading = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        looked_after = left.load();
        EXPECT_EQ(*static_cast<const int*>(all[1]), 7);
      }
      group.meet(local, {"the next", {}});
    };
    EXPECT_THROW(strategy.run(gives_up), Error);
    EXPECT_TRUE(left);
    EXPECT_FALSE(looked_after) << "its stack was unwound while replica 0 was looking at it";
  }
}

TEST(Failure, NobodyLooksAtWhatAReplicaThatHasGivenUpBrought) {
  MirroredStrategy strategy = mirrored(2);
  ReplicaGroup& group = strategy.extended().group();
  std::atomic<bool> left{false};
  const auto gives_up = [&] {
    const int local = get_replica_context()->local_replica();
    group.meet(local, {"a meeting", {}});
    if (local == 1) {
      try {
        group.meet(local, {"the next", {}, std::chrono::milliseconds(20)});
      } catch (const Error&) {
        left = true;
        throw;
      }
    }
    while (!left) std::this_thread::yield();
    expect_error(ErrorCode::revoked, "has failed", [&] { const ReplicaGroup::Reading late(group); });
  };
  EXPECT_THROW(strategy.run(gives_up), Error);
  strategy.run([&] { const ReplicaGroup::Reading fine(group); });
}

TEST_P(WithReplicas, AVariableThatCannotBeMadeInSomeReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  for (int round = 0; round < 20; ++round) {
    const auto makes = [&] {
      if (id() == round % replicas()) throw std::runtime_error("here");
      std::ignore = Variable<std::vector<float>>(std::vector<float>(10, 1));
    };
    EXPECT_THROW(strategy.run(makes), std::runtime_error);
    EXPECT_THAT(strategy.run([] { return Variable<int>(7).value(); }).values(), testing::Each(7));
  }
}

}  // namespace
}  // namespace chorus::test
