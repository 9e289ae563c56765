// SPDX-License-Identifier: Apache-2.0
// Input that fails on one worker: every worker throws in the same place, and none waits for another.
#include "strategies/core/replicas.hpp"
#include "strategies/input/collect.hpp"
#include "strategies/input/workers.hpp"

#include <chorus/barrier.hpp>
#include <chorus/strategies/array_dataset.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace chorus {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;
using MakeDataset = std::function<Dataset<Numbers>(const InputContext&)>;

/// What each of three workers throws, and after how many steps. After it they must be able to communicate.
struct Outcome {
  std::string text;
  int steps = 0;
};
std::vector<Outcome> outcomes(const MakeDataset& make, const InputOptions& options = {}) {
  return test::on_workers(3, 2, [&](const ReplicaLayout& layout, const auto& comm) {
    Outcome outcome;
    try {
      const auto data = DistributedDataset<Numbers>::from_function(make, layout, comm, options);
      for (auto iterator = data.iterate(); iterator.next();) ++outcome.steps;
    } catch (const std::exception& error) {
      outcome.text = error.what();
    }
    return outcome;
  });
}

void expect_all_throw(const MakeDataset& make, int steps, const std::string& told, InputOptions options = {}) {
  for (const UnevenPolicy policy :
       {UnevenPolicy::pad, UnevenPolicy::drop, UnevenPolicy::stop_all, UnevenPolicy::error}) {
    SCOPED_TRACE(static_cast<int>(policy));
    options.uneven = policy;
    const std::vector<Outcome> seen = outcomes(make, options);
    for (const Outcome& outcome : seen) {
      EXPECT_THAT(outcome.text, HasSubstr("the disk is gone"));
      EXPECT_EQ(outcome.steps, steps);
    }
    EXPECT_THAT(seen[0].text, HasSubstr(told));
    EXPECT_EQ(seen[1].text, "the disk is gone") << "its own";
    EXPECT_EQ(seen[2].text, seen[0].text);
  }
}

void fail_on_worker_1(const InputContext& context) {
  if (context.input_pipeline_id == 1) throw std::runtime_error("the disk is gone");
}

TEST(FailingInput, AFunctionThatCannotMakeItsDataset) {
  const auto make = [](const InputContext& context) {
    fail_on_worker_1(context);
    return range(20).batch(2);
  };
  expect_all_throw(make, 0, "worker 1 could not make its dataset");
}

TEST(FailingInput, TextsAreToldToTheirEnd) {
  const auto make = [](const InputContext& context) {
    if (context.input_pipeline_id != 0) throw std::runtime_error(std::string(1000, 'x') + "the end");
    return range(20).batch(2);
  };
  const std::string told = outcomes(make)[0].text;
  EXPECT_THAT(told, HasSubstr("xthe end; worker 2 could not make its dataset: x"));
  EXPECT_THAT(told, testing::EndsWith("xthe end [invalid_argument]"));
}

TEST(FailingInput, AStepThatFailsWhereAllKnowTheNumberOfSteps) {
  for (const std::size_t buffer : {0, 2}) {
    const auto make = [](const InputContext& context) {
      const auto read = [context](const Numbers& batch) {
        if (batch[0] == 8) fail_on_worker_1(context);
        return batch;
      };
      return range(24).batch(2, Remainder::drop).map(read).with_batch_size(2);
    };
    expect_all_throw(make, 2, "in step 2 worker 1 could not read its data", {.per_replica_buffer_size = buffer});
  }
}

// Two rows a step, so that the third replica has none: it does not read ahead for them.
TEST(FailingInput, AStepThatIsFinishedIsGivenBeforeTheOneThatFails) {
  const auto read = [](std::int64_t number) {
    if (number == 8) throw std::runtime_error("the disk is gone");
    return number;
  };
  const Dataset<Numbers> batches = range(9).map(read).batch(2);
  for (const int replicas : {1, 2, 3, 5}) {
    const DistributedDataset<Numbers> data(batches, {.local_replicas = replicas}, {});
    int steps = 0;
    auto iterator = data.iterate();
    const auto read_all = [&] {
      for (; iterator.next(); ++steps) {
      }
    };
    EXPECT_THROW(read_all(), std::runtime_error);
    EXPECT_EQ(steps, 4) << replicas << " replicas";
  }
}

TEST(FailingInput, EndlessDataOfFullBatches) {
  const auto make = [](const InputContext& context) {
    const auto read = [context](std::int64_t number) {
      if (number == 9) fail_on_worker_1(context);
      return number;
    };
    return range(10).map(read).repeat().batch(2);
  };
  expect_all_throw(make, 2, "in step 2 worker 1 could not read its data");
}

TEST(FailingInput, AGeneratorThatCannotStart) {
  const auto make = [](const InputContext& context) {
    const auto factory = [context] {
      fail_on_worker_1(context);
      return [next = std::int64_t{0}]() mutable { return next < 8 ? std::optional(next++) : std::nullopt; };
    };
    return make_generator_dataset(factory, Cardinality::known(8)).batch(2);
  };
  for (const std::size_t buffer : {0, 1}) {
    expect_all_throw(make, 0, "in step 0 worker 1 could not read its data", {.per_replica_buffer_size = buffer});
  }
}

TEST(FailingInput, AnEpochThatCannotBeStartedWhereNoDataCanFail) {
  const Dataset<Numbers> batches = range(8).batch(4);
  const auto texts = test::on_workers(3, 1, [&](const ReplicaLayout& layout, const auto& comm) -> std::string {
    const DistributedDataset<Numbers> data(batches, layout, comm, {.shard_policy = AutoShardPolicy::data});
    std::optional<DistributedIterator<Numbers>> iterator;
    if (layout.worker != 1) iterator = data.iterate();
    barrier(*comm);
    if (layout.worker == 1) {
      const test::NoThreads none;
      iterator = data.iterate();
    }
    try {
      std::ignore = iterator->next();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing";
  });
  EXPECT_THAT(texts[0], HasSubstr("in step 0 worker 1 could not read its data: " + texts[1]));
  EXPECT_THAT(texts[1], HasSubstr("temporarily unavailable"));
  EXPECT_EQ(texts[2], texts[0]);
}

TEST(FailingInput, WhatIsNoExceptionOfTheStandardIsToldToo) {
  const auto make = [](const InputContext& context) {
    if (context.input_pipeline_id == 1) throw 7;
    return range(20).batch(2);
  };
  std::vector<std::string> texts = test::on_workers(2, 1, [&](const ReplicaLayout& layout, const auto& comm) {
    try {
      std::ignore = DistributedDataset<Numbers>::from_function(make, layout, comm);
    } catch (const std::exception& error) {
      return std::string(error.what());
    } catch (int) {
      return std::string("seven");
    }
    return std::string();
  });
  EXPECT_THAT(texts[0], HasSubstr("an exception that is no std::exception"));
  EXPECT_EQ(texts[1], "seven");
}

}  // namespace
}  // namespace chorus
