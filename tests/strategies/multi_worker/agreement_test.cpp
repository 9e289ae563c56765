// SPDX-License-Identifier: Apache-2.0
// Workers that do not make the same calls of a strategy: all are told at once, by the names of those calls.
#include "multi_worker/multi_worker.hpp"

#include <chorus/interop/mpi.hpp>
#include <chorus/strategies/checkpoint_manager.hpp>
#include <chorus/strategies/overlapped_all_reduce.hpp>
#include <chorus/strategies/tensor.hpp>
#include <chorus/strategies/variable.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::chrono::seconds at_once{10};

bool is_last() { return job_rank() == job_size() - 1; }

/// The text of the mismatch that `statement` is to throw at once.
template <class Statement>
std::string told(const Statement& statement) {
  const Outcome outcome = outcome_of(statement);
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
  EXPECT_LT(outcome.took, at_once);
  return outcome.text;
}

/// Every worker's replicas call all_reduce with the operation of their worker.
void all_reduce_by(MultiWorkerMirroredStrategy& several, ReduceOp op, const CommunicationOptions& options = {}) {
  several.run([&] { std::ignore = get_replica_context()->all_reduce(op, 1.0, options); });
}

class Calls : public MultiWorker {
 protected:
  void SetUp() override {
    if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  }
  /// The last worker makes one call, the others another.
  template <class Most, class Last>
  static void expect_told(MultiWorkerMirroredStrategy& several, const Most& most, const Last& last,
                          const std::string& most_says, const std::string& last_says) {
    const std::string text = told([&] { is_last() ? last() : most(); });
    EXPECT_THAT(text, AllOf(HasSubstr(most_says), HasSubstr(last_says)));
    expect_works(several);
  }
};
INSTANTIATE_TEST_SUITE_P(ReplicasOfEachWorker, Calls, testing::Values(1, 2));

TEST_P(Calls, ACheckpointThatOneWorkerSavesAloneIsTold) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<double> v(1, {.name = "v"});
  const Checkpoint checkpoint{v};
  const CheckpointManager manager(checkpoint, "/proc/chorus");
  const auto values = several.run([] { return 1.0; });
  const auto saves = [&] { checkpoint.save("/proc/chorus/saved"); };
  const auto restores = [&] { checkpoint.restore("/proc/chorus/saved"); };
  const auto keeps = [&] { manager.save(1); };
  const auto runs = [&] { several.run([] {}); };
  const auto reduces_in_a_run = [&] { all_reduce_by(several, ReduceOp::sum); };
  const auto reduces = [&] { std::ignore = several.reduce(ReduceOp::sum, values); };
  expect_told(several, saves, runs, "Checkpoint::save", "the end of Strategy::run");
  expect_told(several, saves, reduces_in_a_run, "Checkpoint::save", "all_reduce by sum");
  expect_told(several, reduces_in_a_run, saves, "all_reduce by sum", "Checkpoint::save");
  expect_told(several, reduces, restores, "Strategy::reduce by sum", "Checkpoint::restore");
  expect_told(several, restores, saves, "Checkpoint::restore", "Checkpoint::save");
  expect_told(several, keeps, runs, "CheckpointManager::save", "the end of Strategy::run");
  expect_told(
      several, runs, [&] { std::ignore = manager.latest(); }, "the end of Strategy::run", "CheckpointManager::steps");
}

TEST_P(Calls, WorkersOnDifferentNodesAreToldWhereTheyAreCompared) {
  const ScopedVariable node_ranks("CHORUS_NODE_RANKS", "1");
  const ScopedVariable check("CHORUS_CHECK", "collective");
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  const auto scope = several.scope();
  const Variable<double> v(1, {.name = "v"});
  const Checkpoint checkpoint{v};
  const auto saves = [&] { checkpoint.save("/proc/chorus/saved"); };
  const auto runs = [&] { several.run([] {}); };
  const auto sums = [&] { all_reduce_by(several, ReduceOp::sum); };
  const auto averages = [&] { all_reduce_by(several, ReduceOp::average); };
  expect_told(several, saves, runs, "disagree", "Checkpoint::save");
  expect_told(several, sums, saves, "disagree", "all_reduce by sum");
  expect_told(several, sums, averages, "disagree", "all_reduce by ");
}

TEST_P(Calls, WorkersOnDifferentNodesAreToldAtTheEndOfTheRun) {
  const ScopedVariable memory("CHORUS_SHARED_MEMORY", "off");
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const VariableOptions summed{.name = "v", .aggregation = VariableAggregation::sum};
  const Variable<double> v(0, summed);
  const Variable<double> w(0, {.name = "w", .aggregation = VariableAggregation::sum});
  const auto reduces = [&](ReduceOp op) { return [&, op] { all_reduce_by(several, op); }; };
  expect_told(several, reduces(ReduceOp::sum), reduces(ReduceOp::max), "the last of 3 on worker 0 is all_reduce by sum",
              " is all_reduce by max");
  const auto writes = [&](const Variable<double>& variable) {
    return [&] { several.run([&] { variable.assign(1.0); }); };
  };
  expect_told(several, writes(v), writes(w), "on worker 0 is Variable::assign of \"v\"",
              " is Variable::assign of \"w\"");
  const auto reduces_one = [&](auto one) {
    return [&, one] { several.run([=] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, one); }); };
  };
  expect_told(several, reduces_one(1), reduces_one(1.0F), "all_reduce by sum of int32 ()", "all_reduce by sum of ");
  const auto reduces_twice = [&](auto first) {
    return [&, first] {
      several.run([=] {
        std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, first);
        std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1);
      });
    };
  };
  expect_told(several, reduces_twice(1), reduces_twice(1.0F), "is all_reduce by sum of int32 () on worker 0 and on",
              "one of the calls before it differs: CHORUS_CHECK=collective names the call");
  const auto values = several.run([] { return 1.0; });
  std::ignore = several.reduce(is_last() ? ReduceOp::average : ReduceOp::sum, values);
  const auto runs = [&] { several.run([] { return 1; }); };
  expect_told(several, runs, runs, "on worker 0 is Strategy::reduce by sum", " is Strategy::reduce by average");
  for (int i = 0; i < 3; ++i) {  // the same calls, also where they come from a run and from outside by turns
    std::invoke(writes(v));
    EXPECT_EQ(several.reduce(ReduceOp::max, values), 1);
    expect_works(several);
  }
}

TEST_P(Calls, DifferentReductionsAreTold) {
  for (const bool reproducible : {false, true}) {
    MultiWorkerMirroredStrategy several = strategy({.reproducible = reproducible});
    const auto values = several.run([] { return std::vector{1.0, 2.0}; });
    const auto reduced_by = [&](ReduceOp op) { return [&, op] { std::ignore = several.reduce(op, values); }; };
    const auto in_a_run = [&](ReduceOp op) { return [&, op] { all_reduce_by(several, op); }; };
    expect_told(several, reduced_by(ReduceOp::sum), reduced_by(ReduceOp::average), "Strategy::reduce by sum ",
                "Strategy::reduce by average ");
    expect_told(several, reduced_by(ReduceOp::min), reduced_by(ReduceOp::max), "Strategy::reduce by min ",
                "Strategy::reduce by max of ");
    expect_told(several, in_a_run(ReduceOp::sum), in_a_run(ReduceOp::average), "all_reduce by sum",
                "all_reduce by average");
    expect_told(
        several, reduced_by(ReduceOp::sum), [&] { std::ignore = several.extended().reduce_to(ReduceOp::sum, values); },
        "Strategy::reduce by sum", "reduce_to by sum");
  }
}

TEST_P(Calls, Case130_UpdatesOfDifferentVariablesAreTold) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<double> a(0, {.name = "a"});
  const Variable<double> b(0, {.name = "b"});
  const auto updates = [&](const Variable<double>& variable) {
    return
        [&] { several.run([&] { several.extended().update(variable, [](double& component) { component += 1; }); }); };
  };
  expect_told(several, updates(a), updates(b), "is StrategyExtended::update of \"a\"",
              "is StrategyExtended::update of \"b\"");
  for (int i = 0; i < 2; ++i) std::invoke(updates(a));
}

TEST_P(Calls, DifferentDimensionsAreTold) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto values = several.run([] { return Tensor<double, 2>({2, 2}); });
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average, ReduceOp::max}) {
    const auto along = [&](int axis) { return [&, axis] { std::ignore = several.reduce(op, values, axis); }; };
    const std::string by = "Strategy::reduce by " + std::string(name(op)) + " along the dimensions ";
    expect_told(several, along(0), along(1), by + "0", by + "1");
    EXPECT_EQ(several.reduce(ReduceOp::sum, values, is_last() ? -1 : 1), (std::vector{0.0, 0.0})) << "the same one";
  }
  const auto gathers = [&](int axis) { return [&, axis] { std::ignore = several.gather(values, axis); }; };
  expect_told(several, gathers(1), gathers(0), "gather along the dimensions 1", "gather along the dimensions 0");
}

TEST_P(Calls, DifferentStructuresOfOneLengthAreTold) {
  MultiWorkerMirroredStrategy several = strategy();
  const std::size_t length = 6 * static_cast<std::size_t>(GetParam());  // so that neither test knows the other's shapes
  const auto shaped = [length](std::size_t rows) { return Tensor<double, 2>({rows, length / rows}); };
  const auto reduces = [&](std::size_t rows) {
    return [&, rows] {
      std::ignore = several.reduce(
          ReduceOp::sum, per_replica(several, std::vector(static_cast<std::size_t>(GetParam()), shaped(rows))));
    };
  };
  expect_told(several, reduces(2), reduces(3), "Strategy::reduce by sum of ",
              " (see that worker's error for their shapes)");
  for (const std::size_t rows : {2U, 3U}) std::invoke(reduces(rows));
  expect_told(several, reduces(2), reduces(3),
              "Strategy::reduce by sum of float64 " + to_string(Shape{2, length / 2}) + ": ",
              "Strategy::reduce by sum of float64 " + to_string(Shape{3, length / 3}) + ": ");  // as both are known
  const auto in_a_run = [&](std::size_t rows) {
    return [&, rows] {
      several.run([&] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, shaped(rows)); });
    };
  };
  expect_told(several, in_a_run(2), in_a_run(3), "all_reduce by sum of ", "all_reduce by sum of ");
  using Named = std::map<std::string, double>;
  const auto named = [&](const std::string& name) {
    return [&, name] {
      const std::vector<Named> all(static_cast<std::size_t>(GetParam()), Named{{name, 1}});
      std::ignore = several.reduce(ReduceOp::sum, per_replica(several, all));
    };
  };
  expect_told(several, named("loss"), named("accuracy"), "Strategy::reduce by sum of ", "Strategy::reduce by sum of ");
  const auto named_in_a_run = [&](const std::string& name) {
    return [&, name] {
      several.run([&] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, Named{{name, 1}}); });
    };
  };
  expect_told(several, named_in_a_run("loss"), named_in_a_run("accuracy"), "all_reduce by sum of ",
              "all_reduce by sum of ");
}

TEST_P(Calls, DifferentOverlappedReductionsAreToldByTheirName) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto overlap = [&](ReduceOp op) {
    return [&, op] {
      several.run([&] {
        std::vector<double> value(10);
        OverlappedAllReduce reduced(op, value);
        std::ignore = get_replica_context()->merge_call(
            [](Strategy& strategy, const PerReplica<double>& one) { return strategy.reduce(ReduceOp::sum, one); },
            std::tuple(1.0));
        reduced.wait();
      });
    };
  };
  expect_told(several, overlap(ReduceOp::sum), overlap(ReduceOp::average), "all_reduce by sum",
              "all_reduce by average");
}

TEST_P(MultiWorker, ReplicasThatReduceDifferentlyAreTold) {
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  if (replicas() == 1) GTEST_SKIP() << "needs two replicas";
  const auto reduces = [&] {
    const ReduceOp op = id() == replicas() - 1 ? ReduceOp::average : ReduceOp::sum;
    std::ignore = get_replica_context()->all_reduce(op, 1.0);
  };
  const std::string text = thrown_text([&] { several.run(reduces); });
  if (is_last()) {
    EXPECT_THAT(text, AllOf(HasSubstr("all_reduce by sum"), HasSubstr("all_reduce by average")));
  }
  expect_works(several);
}

TEST_P(MultiWorker, WhatAReplicaDoesMeanwhileDoesNotChangeWhatAnOverlappedAllReduceIs) {
  MultiWorkerMirroredStrategy several = strategy({.bytes_per_pack = 1});
  const int workers = job_size();
  several.run([&] {
    std::pair both(std::vector<float>(100'000, 1), std::vector<float>(100'000, 2));
    OverlappedAllReduce reduced(ReduceOp::sum, both);
    EXPECT_EQ(get_replica_context()->all_reduce(ReduceOp::max, id()), replicas() - 1);
    if (id() % 2 == 0) reduced.ready(both.first);  // starts when the second one has
    const int merged = get_replica_context()->merge_call([&](Strategy&) { return workers; });
    EXPECT_EQ(merged, workers);
    reduced.ready(both.second);
    reduced.wait();
    EXPECT_THAT(both.first, testing::Each(replicas()));
    EXPECT_THAT(both.second, testing::Each(2 * replicas()));
  });
}

/// Turns by which worker comes last, and by what the workers share.
class Stragglers : public testing::TestWithParam<const char*> {};

TEST_P(Stragglers, AFailureIsToldInItsOwnCallHoweverFarAheadTheFirstWorkerIs) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const ScopedVariable memory("CHORUS_SHARED_MEMORY", GetParam());
  MultiWorkerMirroredStrategy several(from_mpi(MPI_COMM_WORLD), {.devices = some_devices(1)});
  const PerReplica<float> of_two({1, 0, 2}, {0, 0});
  const auto of_one = per_replica(several, std::vector{0.0F});
  for (int round = 0; round < 3 * job_size(); ++round) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(several.extended().broadcast_to(i + job_rank())[0], i);  // sets all up
    if (job_rank() == round % job_size()) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(several.extended().broadcast_to(10.0 * i + job_rank())[0], 10 * i) << "call " << i;
    }
    const std::string text =
        thrown_text([&] { std::ignore = several.reduce(ReduceOp::sum, job_rank() == 0 ? of_two : of_one); });
    EXPECT_THAT(text, HasSubstr("local replicas")) << "round " << round;
    expect_works(several);
  }
}
INSTANTIATE_TEST_SUITE_P(Memory, Stragglers, testing::Values("auto", "off"));

}  // namespace
}  // namespace chorus::test
