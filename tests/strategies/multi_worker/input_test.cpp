// SPDX-License-Identifier: Apache-2.0
// Data divided among the workers of a job by each of the shard policies, and taken in steps, against what a loop over
// the rows says each replica gets.
#include "core/gathered_rows.hpp"
#include "multi_worker/multi_worker.hpp"
#include "multi_worker/shared_folder.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/file_dataset.hpp>
#include <chorus/strategies/multi_step_context.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;
/// Of each step the rows of each of all replicas.
using Steps = std::vector<std::vector<Numbers>>;

/// 0, 1, 2, ... of the workers' files, each of two rows.
Numbers rows_of_files(int files, int worker, int workers) {
  Numbers rows;
  for (std::int64_t file = worker; file < files; file += workers) rows.insert(rows.end(), {2 * file, 2 * file + 1});
  return rows;
}

/// first, first + stride, ... below end.
Numbers numbers(std::int64_t first, std::int64_t end, std::int64_t stride = 1) {
  Numbers rows;
  for (std::int64_t row = first; row < end; row += stride) rows.push_back(row);
  return rows;
}

Numbers rows_in(const Numbers& batch) { return batch; }
Numbers rows_in(const Tensor<std::int64_t, 2>& batch) { return {batch.values().begin(), batch.values().end()}; }

/// How the replicas of a job take rows.
class MultiWorkerInput : public MultiWorker {
 protected:
  /// Each batch in slices of equal length, of which each worker gets one, then each of them a second one.
  static Steps sliced(const Numbers& rows, std::size_t batch) {
    Steps steps;
    for (std::size_t begin = 0; begin < rows.size(); begin += batch) {
      const std::size_t end = std::min(begin + batch, rows.size());
      const std::size_t slice = (end - begin + index(replicas()) - 1) / index(replicas());
      auto& step = steps.emplace_back(index(replicas()));
      for (int turn = 0; turn < replicas(); ++turn) {
        const std::size_t from = std::min(begin + index(turn) * slice, end);
        const std::size_t to = std::min(from + slice, end);
        step[index(turn % job_size() * GetParam() + turn / job_size())] =
            Numbers(rows.begin() + static_cast<std::ptrdiff_t>(from), rows.begin() + static_cast<std::ptrdiff_t>(to));
      }
    }
    return steps;
  }
  /// Each worker takes its own rows one after the other: in the first step its first replica what replica number
  /// first_replica of a fair division has, the next one what the next has, and so on.
  static Steps streamed(const std::function<Numbers(int)>& rows_of, std::size_t batch) {
    Steps steps;
    for (int worker = 0; worker < job_size(); ++worker) {
      const Numbers rows = rows_of(worker);
      std::size_t taken = 0;
      for (std::size_t turn = 0; taken < rows.size(); ++turn) {
        const std::size_t step = turn / index(GetParam());
        if (step == steps.size()) steps.emplace_back(index(replicas()));
        const std::size_t as = (index(worker * GetParam()) + turn) % index(replicas());
        const std::size_t share = batch / index(replicas()) + (as < batch % index(replicas()) ? 1 : 0);
        Numbers& own = steps[step][index(worker * GetParam()) + turn % index(GetParam())];
        for (std::size_t i = 0; i < share && taken < rows.size(); ++i) own.push_back(rows[taken++]);
      }
    }
    return steps;
  }

  /// Takes all steps and lets the replicas see their rows.
  template <class Batches>
  static void expect_steps(MultiWorkerMirroredStrategy& several, const Batches& batches, const Steps& expected) {
    std::size_t number = 0;
    for (const auto& step : batches) {
      ASSERT_LT(number, expected.size()) << "one step too many";
      const std::vector<Numbers>& rows = expected[number++];
      const auto seen = several.run(
          [&rows](const auto& batch) {
            EXPECT_EQ(rows_in(batch), rows[index(id())]) << "replica " << id();
            return rows_in(batch);
          },
          step.batches());
      const Numbers all = std::accumulate(rows.begin(), rows.end(), Numbers(), [](Numbers so_far, const Numbers& next) {
        so_far.insert(so_far.end(), next.begin(), next.end());
        return so_far;
      });
      EXPECT_EQ(step.global_size(), all.size());
      EXPECT_EQ(several.gather(seen, 0), all);
      EXPECT_EQ(several.reduce(ReduceOp::sum, seen, 0), std::accumulate(all.begin(), all.end(), std::int64_t{0}));
    }
    EXPECT_EQ(number, expected.size()) << "all steps";
  }
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
};
INSTANTIATE_TEST_SUITE_P(ReplicasOfEachWorker, MultiWorkerInput, testing::Values(1, 2));

TEST_P(MultiWorkerInput, OptionsThatDifferAreRefusedOnAllWorkers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const bool other = job_rank() == 1;
  const auto refused = [&](const std::string& what, const Dataset<std::int64_t>& rows, std::size_t batch,
                           const InputOptions& options) {
    const auto data = several.distribute_dataset(rows.batch(batch), options);
    const std::string text = thrown_text([&] { std::ignore = data.iterate().next(); });
    EXPECT_THAT(text, HasSubstr(what));
    EXPECT_THAT(text, HasSubstr("worker 1"));
  };
  const auto rows = range(400).map([](std::int64_t row) { return row; });
  const auto shuffled = rows.shuffle(400, other ? 2 : 1);
  refused("the shard_policy", rows, 80, {.shard_policy = other ? AutoShardPolicy::off : AutoShardPolicy::data});
  refused("the order of shuffle", shuffled, 80, {.shard_policy = AutoShardPolicy::data});
  refused("the rows of a batch", rows, other ? 40 : 80, {.shard_policy = AutoShardPolicy::off});
  refused("the uneven policy", rows, 80,
          {.shard_policy = AutoShardPolicy::data, .uneven = other ? UnevenPolicy::stop_all : UnevenPolicy::pad});
  const auto taken = several.distribute_dataset(shuffled.batch(80), {.shard_policy = AutoShardPolicy::off});
  EXPECT_TRUE(taken.iterate().next()) << "where each worker sees to its own order";
}

TEST_P(MultiWorkerInput, Case98_DataGivesEachReplicaItsSlicesOfEachBatch) {
  MultiWorkerMirroredStrategy several = strategy();
  for (const std::size_t batch : {8, 11, 30}) {  // the last is longer than all data
    for (const bool known : {true, false}) {
      const auto batches = range(29).batch(batch);
      expect_steps(several,
                   several.distribute_dataset(known ? batches : batches.with_batch_size(std::nullopt),
                                              {.shard_policy = AutoShardPolicy::data}),
                   sliced(numbers(0, 29), batch));
    }
  }
}

/// They would lose the rows that only one worker has.
TEST_P(MultiWorkerInput, WorkersWithDifferentDataAreTold) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const bool is_last = job_rank() == job_size() - 1;
  const auto data = make_array_dataset(std::vector<int>(is_last ? 7 : 40)).batch(4);
  const auto distributed = several.distribute_dataset(data, {.shard_policy = AutoShardPolicy::data});
  const std::string text = thrown_text([&] { std::ignore = distributed.begin(); });
  EXPECT_THAT(text, testing::HasSubstr("worker " + std::to_string(job_size() - 1) + ": 2"));
  EXPECT_THAT(text, testing::HasSubstr("worker 0: 10"));
  expect_works(several);
}

TEST_P(MultiWorkerInput, Case100_OffGivesAllDataToEachWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto all = [](int /*worker*/) { return numbers(0, 29); };
  for (const std::size_t batch : {8, 11, 30}) {
    expect_steps(several, several.distribute_dataset(range(29).batch(batch), {.shard_policy = AutoShardPolicy::off}),
                 streamed(all, batch));
  }
}

TEST_P(MultiWorkerInput, HintsGiveEachWorkerWhatTheyLetPass) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto own = [](int worker) { return numbers(worker, 29, job_size()); };
  expect_steps(
      several,
      several.distribute_dataset(range(29).shard(ShardHint{}).batch(11), {.shard_policy = AutoShardPolicy::hint}),
      streamed(own, 11));
}

TEST_P(MultiWorkerInput, Case103_FilesAreReadByOneWorkerEach) {
  MultiWorkerMirroredStrategy several = strategy();
  const SharedFolder folder;
  const auto files = [&](int count) {
    std::vector<std::string> names;
    for (int file = 0; file < count; ++file) {
      names.push_back(folder.path(std::to_string(file)));
      if (job_rank() == 0) std::ofstream(names.back()) << 2 * file << '\n' << 2 * file + 1 << '\n';
    }
    barrier(Communicator::world());
    return names;
  };
  const auto batches = make_csv_dataset<std::int64_t>(files(7)).batch(9);
  const auto own = [](int worker) { return rows_of_files(7, worker, job_size()); };
  for (const AutoShardPolicy policy : {AutoShardPolicy::file, AutoShardPolicy::automatic}) {
    expect_steps(several, several.distribute_dataset(batches, {.shard_policy = policy}), streamed(own, 9));
  }
  if (job_size() == 1) return;
  const auto too_few = make_csv_dataset<std::int64_t>(files(job_size() - 1)).batch(9);
  const std::string text = std::to_string(job_size() - 1) + " < " + std::to_string(job_size());
  expect_error(ErrorCode::invalid_argument, text, [&] { std::ignore = several.distribute_dataset(too_few); });
  expect_works(several);
}

TEST_P(MultiWorkerInput, Case104_AutomaticDividesWhatIsNoFilesAndSaysSoOnce) {
  MultiWorkerMirroredStrategy several = strategy();
  std::atomic<int> warnings = 0;
  const InputOptions options{.warn = [&](const std::string& text) {
    EXPECT_THAT(text, HasSubstr("reads no files"));
    ++warnings;
  }};
  const Steps expected =
      job_size() > 1 ? sliced(numbers(0, 29), 11) : streamed([](int /*worker*/) { return numbers(0, 29); }, 11);
  expect_steps(several, several.distribute_dataset(range(29).batch(11), options), expected);
  EXPECT_EQ(warnings, job_size() > 1 && job_rank() == 0 ? 1 : 0) << "one in the whole job";
  if (job_size() == 1) return;
  expect_error(ErrorCode::invalid_argument, "reads no files", [&] {
    std::ignore = several.distribute_dataset(range(29).batch(11), {.shard_policy = AutoShardPolicy::file});
  });
  expect_works(several);
}

TEST_P(MultiWorkerInput, Case97_AFunctionDividesItself) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto batches = several.distribute_datasets_from_function([](const InputContext& context) {
    EXPECT_EQ(context, (InputContext{job_size(), job_rank(), replicas()}));
    return range(40).batch(3).shard(index(context.num_input_pipelines), index(context.input_pipeline_id));
  });
  Steps expected;
  for (int batch = 0; 3 * batch < 40; ++batch) {
    const int of_worker = batch / job_size();  // in turn: its number among the batches of its worker
    const std::size_t step = index(of_worker / GetParam());
    if (step == expected.size()) expected.emplace_back(index(replicas()));
    expected[step][index(batch % job_size() * GetParam() + of_worker % GetParam())] =
        numbers(3 * batch, std::min(3 * batch + 3, 40));
  }
  expect_steps(several, batches, expected);
}

TEST_P(MultiWorkerInput, Case107_AWorkerThatIsAtItsEndGetsEmptyBatches) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto own = [](int worker) { return numbers(100 * worker, 100 * worker + 2 + 3 * worker); };
  const auto make = [&](const InputContext& context) {
    const Numbers rows = own(context.input_pipeline_id);
    return range(rows.front(), rows.back() + 1).batch(2);
  };
  Steps expected;
  for (int worker = 0; worker < job_size(); ++worker) {
    const Numbers rows = own(worker);
    for (std::size_t begin = 0; begin < rows.size(); begin += 2) {
      const std::size_t step = begin / 2 / index(GetParam());
      if (step == expected.size()) expected.emplace_back(index(replicas()));
      Numbers& batch = expected[step][index(worker * GetParam()) + begin / 2 % index(GetParam())];
      for (std::size_t i = begin; i < std::min(begin + 2, rows.size()); ++i) batch.push_back(rows[i]);
    }
  }
  expect_steps(several, several.distribute_datasets_from_function(make), expected);
}

TEST_P(MultiWorkerInput, Case107_WhatAWorkerWithoutAnyDataMakesGoesTogetherWithTheOthers) {
  MultiWorkerMirroredStrategy several = strategy();
  using Matrix = Tensor<double, 2>;
  const auto make = [](const InputContext& context) {
    return make_array_dataset(Matrix({context.input_pipeline_id == 0 ? 3U : 0U, 5})).batch(2);
  };
  std::size_t rows = 0;
  for (auto& step : several.distribute_datasets_from_function(make)) {
    const auto columns = several.run([](const Matrix& batch) { return batch.shape()[1]; }, step.batches());
    EXPECT_THAT(columns.values(), Each(5U));
    const Matrix all = several.gather(step.batches(), 0);
    EXPECT_EQ(all.shape(), (Shape{step.global_size(), 5}));
    rows += all.shape()[0];
    EXPECT_THAT(several.reduce(ReduceOp::average, step.batches(), 0), ElementsAre(0, 0, 0, 0, 0));
  }
  EXPECT_EQ(rows, 3U);
}

TEST_P(MultiWorkerInput, Case110_ValuesFromAFunction) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto values = several.distribute_values_from_function([](const ValueContext& context) {
    EXPECT_EQ(context.num_replicas_in_sync, replicas());
    return 10 * (context.replica_id_in_sync_group + 1);
  });
  several.run([](int value) { EXPECT_EQ(value, 10 * (id() + 1)); }, values);
  EXPECT_EQ(several.reduce(ReduceOp::sum, values), 10 * (sum_of_ids() + replicas()));
}

std::int64_t sum_of(const Numbers& rows) { return std::accumulate(rows.begin(), rows.end(), std::int64_t{0}); }

TEST_P(MultiWorkerInput, RunStepsKeepsWhatTheLastStepHasSet) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto batches = several.distribute_dataset(range(23).batch(8), {.shard_policy = AutoShardPolicy::data});
  auto iterator = batches.iterate();
  int calls = 0;
  const auto step = [&](MultiStepContext& outputs, const auto& batch) {
    EXPECT_EQ(&get_strategy(), &several);
    EXPECT_TRUE(in_cross_replica_context());
    const auto sums = several.run(
        [&](const Numbers& rows) {
          outputs.set_last_step_output("in replicas", sum_of(rows), ReduceOp::sum);
          outputs.set_non_tensor_output("replica", std::to_string(id()));
          return sum_of(rows);
        },
        batch.batches());
    outputs.set_last_step_output("outside", sums, ReduceOp::sum);
    outputs.set_last_step_output("rows", static_cast<std::int64_t>(batch.global_size()));
    outputs.set_non_tensor_output("call", ++calls);
  };
  const auto expect_outputs = [&](const MultiStepContext& outputs, std::int64_t sum, std::int64_t rows) {
    EXPECT_EQ(outputs.last_step_output<std::int64_t>("in replicas"), sum);
    EXPECT_EQ(outputs.last_step_output<std::int64_t>("outside"), sum);
    EXPECT_EQ(outputs.last_step_output<std::int64_t>("rows"), rows);
    EXPECT_EQ(outputs.non_tensor_output<int>("call"), outputs.steps());
    std::vector<std::string> own;
    for (int i = 0; i < GetParam(); ++i) own.push_back(std::to_string(job_rank() * GetParam() + i));
    EXPECT_EQ(outputs.non_tensor_output<std::vector<std::string>>("replica"), own) << "of this worker";
  };
  const MultiStepContext two = several.extended().run_steps(step, iterator, 2);
  EXPECT_EQ(two.steps(), 2);
  expect_outputs(two, sum_of(numbers(8, 16)), 8);
  const MultiStepContext three = several.extended().run_steps(step, iterator, 100, two);
  EXPECT_EQ(three.steps(), 3) << "the data end";
  expect_outputs(three, sum_of(numbers(16, 23)), 7);
  const MultiStepContext none = several.extended().run_steps(step, iterator, 1, three);
  EXPECT_EQ(calls, 3) << "no further step";
  expect_outputs(none, sum_of(numbers(16, 23)), 7);
}

TEST_P(MultiWorkerInput, AStepThatFailsOnOneReplicaEndsRunStepsOnEveryWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto batches = several.distribute_dataset(range(64).batch(8), {.shard_policy = AutoShardPolicy::data});
  auto iterator = batches.iterate();
  int calls = 0;
  const auto step = [&](MultiStepContext& outputs, const auto& batch) {
    ++calls;
    several.run(
        [&](const Numbers& rows) {
          if (calls == 3 && id() == replicas() - 1) throw std::runtime_error("no such row");
          outputs.set_last_step_output("sum", sum_of(rows), ReduceOp::sum);
        },
        batch.batches());
  };
  EXPECT_THAT(thrown_text([&] { several.extended().run_steps(step, iterator, 8); }), HasSubstr("no such row"));
  EXPECT_EQ(calls, 3);
  const MultiStepContext next = several.extended().run_steps(step, iterator);
  EXPECT_EQ(next.last_step_output<std::int64_t>("sum"), sum_of(numbers(24, 32))) << "goes on with the next step";
}

}  // namespace
}  // namespace chorus::test
