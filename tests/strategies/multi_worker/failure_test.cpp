// SPDX-License-Identifier: Apache-2.0
// Workers that fail, in a run and outside: all are told, and the strategy works again at once.
#include "multi_worker/multi_worker.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/check_in_sync.hpp>
#include <chorus/strategies/checkpoint.hpp>
#include <chorus/strategies/gradient_accumulator.hpp>
#include <chorus/strategies/multi_step_context.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/variable.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::HasSubstr;

TEST_P(MultiWorker, ACollectiveOutsideOfRunsThatFailsLeavesTheStrategyWorking) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto of_length = [&](int length) {
    return per_replica(several, std::vector(static_cast<std::size_t>(GetParam()),
                                            std::vector<float>(static_cast<std::size_t>(length), 1)));
  };
  for (int round = 0; round < 3; ++round) {
    for (const int length : {1, 100'000}) {
      const auto unequal = of_length(length + job_rank());
      EXPECT_THROW(std::ignore = several.reduce(ReduceOp::sum, unequal), Error);
      expect_works(several);
      EXPECT_THROW(std::ignore = several.reduce(ReduceOp::sum, unequal), Error);
      EXPECT_EQ(several.reduce(ReduceOp::sum, of_length(1))[0], several.num_replicas_in_sync())
          << "without a run between";
    }
  }
}

TEST_P(MultiWorker, WhatOneWorkerRefusesIsToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const bool wrong = job_rank() == job_size() - 1;
  const auto more = static_cast<std::size_t>(GetParam());
  const PerReplica<float> values({1, 0, GetParam() + (wrong ? 1 : 0)}, std::vector<float>(more + (wrong ? 1 : 0)));
  const std::string who = "worker " + std::to_string(job_size() - 1) + " threw: ";
  const auto expect_told = [&](const auto& call) {
    const std::string text = thrown_text(call);
    EXPECT_THAT(text, HasSubstr("local replicas"));
    if (!wrong) {
      EXPECT_THAT(text, HasSubstr(who));
    }
    expect_works(several);
  };
  expect_told([&] { std::ignore = several.reduce(ReduceOp::sum, values); });
  expect_told([&] { std::ignore = several.extended().reduce_to(ReduceOp::sum, values); });
  expect_told([&] { std::ignore = several.extended().batch_reduce_to(ReduceOp::sum, std::vector{values}); });
}

TEST_P(MultiWorker, AnExceptionWithoutATextIsToldAsOne) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const bool throws = job_rank() == job_size() - 1;
  const std::string text = thrown_text([&] {
    several.run([&] {
      if (throws) throw std::runtime_error("");
      std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1);
    });
  });
  EXPECT_THAT(text, HasSubstr(throws ? "" : "threw: an exception without a text"));
  expect_works(several);
}

/// Expects `call(whether it is to be wrong)` to throw on every worker what the last one refuses, `text`, and the
/// strategy to work then.
template <class Call>
void expect_told(MultiWorkerMirroredStrategy& several, const std::string& text, const Call& call) {
  const bool wrong = job_rank() == job_size() - 1;
  EXPECT_THAT(thrown_text([&] { call(wrong); }), HasSubstr(text));
  expect_works(several);
}

TEST_P(MultiWorker, OptionsThatOneWorkerRefusesAreToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<double> v(0.0, {.name = "v"});
  expect_told(several, "timeout is negative", [&](bool wrong) {
    several.run({.communication = {.timeout = std::chrono::seconds(wrong ? -1 : 0)}}, [] {});
  });
  expect_told(several, "the mean of integers", [](bool wrong) {
    const Variable<int> count(0, {.aggregation = wrong ? VariableAggregation::mean : VariableAggregation::sum});
  });
  expect_told(several, "Sgd: learning_rate is -1", [&](bool wrong) {
    const Sgd optimizer{std::tuple(v), {.learning_rate = wrong ? -1.0 : 1.0}};
  });
  expect_told(several, "Adam: beta_1 is 1", [&](bool wrong) {
    const Adam optimizer{std::tuple(v), {.beta_1 = wrong ? 1.0 : 0.5}};
  });
  expect_told(several, "0 batches", [&](bool wrong) {
    const GradientAccumulator<double> accumulator(wrong ? 0 : 1);
    several.run([] {});
  });
  expect_told(several, "losses are not joined by max", [&](bool wrong) {
    several.extended().set_loss_reduction(wrong ? ReduceOp::max : ReduceOp::sum);
    several.run([] {});
  });
}

TEST_P(MultiWorker, DataAndStepsThatOneWorkerRefusesAreToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto rows = range(100).batch(8);
  expect_told(several, "replica_weights for", [&](bool wrong) {
    const std::vector<double> weights(wrong ? 99 : 0, 1.0);
    std::ignore = several.distribute_dataset(rows, {.shard_policy = AutoShardPolicy::data, .replica_weights = weights});
  });
  expect_told(several, "-1 iterations", [&](bool wrong) {
    auto steps = several.distribute_dataset(rows, {.shard_policy = AutoShardPolicy::data}).iterate();
    const auto step = [&](MultiStepContext&, const auto& batch) { several.run([](const auto&) {}, batch.batches()); };
    std::ignore = several.extended().run_steps(step, steps, wrong ? -1 : 2);
  });
}

TEST_P(MultiWorker, EntriesThatOneWorkerRefusesAreToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  MultiWorkerMirroredStrategy another = strategy();
  const auto make = [](MultiWorkerMirroredStrategy& in) {
    const auto scope = in.scope();
    return Variable<double>(0.0, {.name = "v"});
  };
  const Variable<double> v = make(several);
  const Variable<double> of_another = make(another);
  expect_told(several, "two entries are called \"v\"", [&](bool wrong) {
    const Checkpoint checkpoint = wrong ? Checkpoint{v, v} : Checkpoint{v};
    std::ignore = checkpoint.restore("no such folder");
  });
  expect_told(several, "check each strategy's in its scope",
              [&](bool wrong) { wrong ? check_in_sync(v, of_another) : check_in_sync(v, v); });
}

TEST_P(MultiWorker, AWorkerThatLeavesOutARunIsNoticedWhereItTakesTheNextStep) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto make = [](const InputContext& context) {
    return range(context.input_pipeline_id + 2).map([](std::int64_t row) { return row; }).batch(1);
  };
  const auto data = several.distribute_datasets_from_function(make);
  const bool leaves_out = job_rank() == job_size() - 1;
  const std::string text = thrown_text([&] {
    for (const auto& step : data) {
      if (leaves_out) continue;
      std::ignore = several.run([](std::int64_t) { return get_replica_context()->all_reduce(ReduceOp::sum, 1); },
                                several.run([](const auto& rows) { return rows.front(); }, step.batches()));
    }
  });
  EXPECT_THAT(text, HasSubstr("the next step of a dataset"));
  expect_works(several);
}

TEST_P(MultiWorker, AFailedRunIsToldToAWorkerThatTakesTheNextStep) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto data = several.distribute_dataset(range(1000).map([](std::int64_t row) { return row; }).batch(10),
                                               {.shard_policy = AutoShardPolicy::off});
  auto steps = data.iterate();
  std::ignore = steps.next();
  const auto fails = [] { throw std::runtime_error("no weights here"); };
  const std::string text = thrown_text([&] {
    if (job_rank() == 0) several.run(fails);
    std::ignore = steps.next();
  });
  EXPECT_THAT(text, HasSubstr("no weights here"));
  expect_works(several);
}

TEST_P(MultiWorker, AnInitialValueThatCannotBeMadeOnOneWorkerIsToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const auto make = [&] {
    const Variable<double> v([]() -> double {
      if (job_rank() == 1) throw std::runtime_error("no weights here");
      return 1;
    });
  };
  EXPECT_THAT(thrown_text(make), HasSubstr("no weights here"));
  const Variable<double> v(job_rank() + 1.0);
  EXPECT_EQ(v.value(), 1);
}

TEST_P(MultiWorker, Case25_StructuresThatDifferOnOneWorkerAreRefusedOnAll) {
  MultiWorkerMirroredStrategy several = strategy();
  if (several.num_replicas_in_sync() == 1) GTEST_SKIP() << "needs two replicas";
  const int last = several.num_replicas_in_sync() - 1;
  const auto lists = [&] { return std::vector<std::tuple<int>>(id() == last ? 2U : 1U); };
  EXPECT_THAT(thrown_text([&] { several.run(lists); }), HasSubstr("structures of the replicas differ"));
  expect_works(several);
  const auto maps = [&] { return std::map<std::string, int>{{id() == last ? "a" : "b", 1}}; };
  EXPECT_THAT(thrown_text([&] { several.run(maps); }), HasSubstr("structures of the replicas differ"));
  expect_works(several);
  const auto same = several.run([] { return std::map<std::string, int>{{"a", id()}, {"b", 2}}; });
  EXPECT_EQ(several.reduce(ReduceOp::max, same).at("a"), last);
}

TEST_P(MultiWorker, Case202_AMergeFunctionThatThrowsOnOneWorkerThrowsOnAll) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto throws = [] {
    get_replica_context()->merge_call([](Strategy&) {
      if (job_rank() == job_size() - 1) throw std::runtime_error("in the merge");
    });
  };
  EXPECT_THAT(thrown_text([&] { several.run(throws); }), HasSubstr("in the merge"));
  expect_works(several);
}

TEST_P(MultiWorker, Case86_WorkersWithDifferentNumbersOfReplicasAreRefused) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const auto make = [] {
    MultiWorkerMirroredStrategy::Setup setup;
    setup.devices = some_devices(GetParam() + (job_rank() == 1 ? 1 : 0));
    const MultiWorkerMirroredStrategy unequal(Communicator::world(), std::move(setup));
  };
  expect_error(ErrorCode::invalid_argument, "as many devices on every rank", make);
}

TEST_P(MultiWorker, TheTimeoutOfAStrategyHoldsForItsInput) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy({.timeout = std::chrono::milliseconds(200)});
  const auto late = [](std::int64_t row) {
    if (job_rank() == 1 && row == 0) std::this_thread::sleep_for(std::chrono::milliseconds(800));
    return row;
  };
  const Outcome outcome = outcome_of([&] {
    const auto rows = several.distribute_dataset(range(8).map(late).batch(8), {.shard_policy = AutoShardPolicy::off});
    auto iterator = rows.iterate();
    while (iterator.next()) {
    }
    several.run([] {});
  });
  EXPECT_THAT(outcome.text, HasSubstr("has waited ")) << "this worker, or another one";
}

TEST_P(MultiWorker, TheTimeoutOfARunHoldsForAllThatWorkersWaitForInIt) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const RunOptions options{.communication = {.timeout = std::chrono::milliseconds(200)}};
  const auto be_late = [] {
    if (job_rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(800));
  };
  const auto expect_timeout = [&](const auto& run) {
    Outcome outcome = outcome_of(run);
    if (!outcome.code) {  // who comes late to the end of the run need not wait there, and is told by its next call
      EXPECT_EQ(job_rank(), 1);
      outcome = outcome_of([&] { several.run([] {}); });
    }
    EXPECT_THAT(outcome.text, HasSubstr("has waited ")) << "this worker, or another one";
    expect_works(several);
  };
  expect_timeout([&] { several.run(options, be_late); });
  expect_timeout([&] {
    several.run(options, [&] {
      be_late();
      return std::vector<std::tuple<int>>(1);
    });
  });
  expect_timeout([&] {
    several.run(options, [&] {
      be_late();
      std::ignore = get_replica_context()->all_gather(std::vector<int>(1), 0);
    });
  });
  several.run(be_late);
}

TEST_P(MultiWorker, AFunctionThatCannotMakeItsDatasetOnOneWorkerThrowsOnAll) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto make = [](const InputContext& context) {
    if (context.input_pipeline_id == 1) throw std::runtime_error("the disk is gone");
    return range(8).batch(2);
  };
  EXPECT_THAT(thrown_text([&] { std::ignore = several.distribute_datasets_from_function(make); }),
              HasSubstr("the disk is gone"));
  expect_works(several);
}

}  // namespace
}  // namespace chorus::test
