// SPDX-License-Identifier: Apache-2.0
// What a training is made of, on all replicas of a job, against one loop that sees the data of all.
#include "multi_worker/multi_worker.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/check_in_sync.hpp>
#include <chorus/strategies/gradient_accumulator.hpp>
#include <chorus/strategies/losses.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/variable.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::vector<double>;

TEST_P(MultiWorker, Case130_AnUpdateIsOfEachComponentOfThisWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<double> v(1, {.name = "v"});
  int calls = 0;
  const auto add = [&](double& component, double by) {
    ++calls;
    EXPECT_TRUE(in_cross_replica_context());
    EXPECT_EQ(get_replica_context(), nullptr);
    return component += by;
  };
  const auto ids = several.run([] { return static_cast<double>(id()); });
  std::vector<double> expected;
  for (int i = 0; i < GetParam(); ++i) expected.push_back(1 + job_rank() * GetParam() + i);
  EXPECT_EQ(several.extended().update(v, add, ids), expected) << "each its own argument";
  EXPECT_EQ(v.components(), expected);
  EXPECT_EQ(calls, GetParam());
  const auto inside = several.run([&] { return several.extended().update(v, add, 10.0 * id()); });
  for (int i = 0; i < GetParam(); ++i) {
    expected[static_cast<std::size_t>(i)] += 10 * (job_rank() * GetParam() + i);
  }
  EXPECT_THAT(inside.values(), Each(expected));
  EXPECT_EQ(v.components(), expected);
  EXPECT_EQ(calls, 2 * GetParam()) << "once for each component, not for each replica";
}

TEST_P(MultiWorker, AnUpdateByAReductionKeepsAllInSync) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<Values> v(Values{1, 2}, {.name = "v"});
  const auto gradients = several.run([] { return Values{static_cast<double>(id()), 1}; });
  const auto apply = [](Values& component, const Values& gradient) {
    for (std::size_t i = 0; i < component.size(); ++i) component[i] -= 0.5 * gradient[i];
  };
  several.extended().update(v, apply, several.extended().reduce_to(ReduceOp::sum, gradients));
  EXPECT_THAT(v.components(), Each(ElementsAre(1 - 0.5 * sum_of_ids(), 2 - 0.5 * replicas())));
  check_in_sync(v);
  several.extended().update(v, [](Values& component) { component[0] = job_rank(); });
  if (job_size() > 1) expect_error(ErrorCode::mismatch, "\"v\" on replica", [&] { check_in_sync(v); });
}

TEST_P(MultiWorker, Case133_NonSlotUpdatesAreOncePerDeviceOfEachWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<int> v(0, {.name = "v"});
  const NonSlotDevices where = several.extended().non_slot_devices(v);
  EXPECT_EQ(where.devices, some_devices(GetParam()));
  std::vector<int> expected;
  for (int i = 0; i < GetParam(); ++i) expected.push_back(7 + job_rank() * GetParam() + i);
  const auto ids = several.run(id);
  EXPECT_EQ(several.extended().update_non_slot(
                where, [](int given) { return 7 + given; }, ids),
            expected);
}

TEST_P(MultiWorker, AnUpdateThatFailsOnOneWorkerIsToldWhereTheOthersWait) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<double> v(0, {.name = "v"});
  const auto fails = [&] {
    several.extended().update(v, [](double& /*component*/) {
      if (job_rank() == job_size() - 1) throw std::out_of_range("no such row");
    });
  };
  EXPECT_THAT(thrown_text([&] { several.run(fails); }), HasSubstr("no such row"));
  expect_works(several);
}

TEST_P(MultiWorker, SmallBatchesAddedUpCountAsALargeOne) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const auto trained = [&](int batches) {
    const Variable<Values> v(Values{0, 0});
    Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 0.5}};
    GradientAccumulator<Values> accumulator(batches);
    several.run([&] {
      for (int step = 0; step < 2; ++step) {
        for (int batch = 0; batch < batches; ++batch) {
          const double share = (1.0 + id() + step) / batches;
          const auto sums = accumulator.add({Values{share, 2 * share}});
          ASSERT_EQ(sums.has_value(), batch == batches - 1);
          if (sums) optimizer.apply_gradients(*sums);
        }
      }
    });
    EXPECT_EQ(optimizer.steps(), 2);
    return v.components();
  };
  const double sum = 2 * sum_of_ids() + 3 * replicas();  // of 1 + id, then of 2 + id
  for (const int batches : {1, 4}) EXPECT_THAT(trained(batches), Each(ElementsAre(-0.5 * sum, -sum)));
}

TEST_P(MultiWorker, AnAccumulatorBeginsAnewAfterARunThatFailed) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  GradientAccumulator<double> accumulator(2);
  const auto one_throws = [&] {
    if (id() == replicas() - 1) throw std::out_of_range("no such row");
    std::ignore = accumulator.add({7});
    std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1);
  };
  EXPECT_THAT(thrown_text([&] { several.run(one_throws); }), HasSubstr("no such row"));
  accumulator.reset();
  const auto sums = several.run([&] {
    EXPECT_FALSE(accumulator.add({1}));
    return std::get<0>(accumulator.add({2.0 + id()}).value());
  });
  EXPECT_EQ(several.reduce(ReduceOp::sum, sums), 3 * replicas() + sum_of_ids());
}

/// The gradient of replica r in a step: whole numbers, whose sums are exact.
Values gradient_of(int replica, int step) {
  return {static_cast<double>(replica - 2 * step), static_cast<double>(step * replica + 1)};
}

/// That of all replicas.
Values gradient_of_all(int replicas, int step) {
  Values sum{0, 0};
  for (int replica = 0; replica < replicas; ++replica) {
    for (std::size_t i = 0; i < 2; ++i) sum[i] += gradient_of(replica, step)[i];
  }
  return sum;
}

constexpr int steps = 5;

/// What `steps` steps of a new optimizer leave of {1, -1} on each replica of this worker.
template <class Make>
std::vector<Values> after_steps(MultiWorkerMirroredStrategy& several, const Make& make,
                                const GradientOptions& options = {}) {
  const auto scope = several.scope();
  const Variable<Values> v(Values{1, -1}, {.name = "v"});
  auto optimizer = make(std::tuple(v));
  for (int step = 0; step < steps; ++step) {
    several.run([&] { optimizer.apply_gradients({gradient_of(id(), step)}, options); });
  }
  EXPECT_EQ(optimizer.steps(), steps);
  check_in_sync(v, optimizer);
  return v.components();
}

void expect_near(const std::vector<Values>& components, const Values& expected) {
  for (const Values& each : components) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(each[i], expected[i], 1e-12 * (1 + std::abs(expected[i])));
  }
}

TEST_P(MultiWorker, SgdGoesTheWayOfOneLoop) {
  MultiWorkerMirroredStrategy several = strategy();
  for (const bool nesterov : {false, true}) {
    for (const double momentum : {0.0, 0.5}) {
      const SgdOptions options{.learning_rate = 0.25, .momentum = momentum, .nesterov = nesterov};
      Values expected{1, -1};
      Values remembered{0, 0};
      for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < 2; ++i) {
          const double change = -0.25 * gradient_of_all(replicas(), step)[i];
          remembered[i] = momentum * remembered[i] + change;
          expected[i] += nesterov ? momentum * remembered[i] + change : remembered[i];
        }
      }
      EXPECT_THAT(after_steps(several, [&](const auto& variables) { return Sgd(variables, options); }), Each(expected));
    }
  }
}

TEST_P(MultiWorker, AdamGoesTheWayOfOneLoop) {
  MultiWorkerMirroredStrategy several = strategy();
  Values expected{1, -1};
  Values first{0, 0};
  Values second{0, 0};
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < 2; ++i) {
      const double gradient = gradient_of_all(replicas(), step)[i];
      first[i] = 0.9 * first[i] + 0.1 * gradient;
      second[i] = 0.999 * second[i] + 0.001 * gradient * gradient;
      const double rate = 0.1 * std::sqrt(1 - std::pow(0.999, step + 1)) / (1 - std::pow(0.9, step + 1));
      expected[i] -= rate * first[i] / (std::sqrt(second[i]) + 1e-7);
    }
  }
  const auto adam = [](const auto& variables) { return Adam(variables, {.learning_rate = 0.1}); };
  expect_near(after_steps(several, adam), expected);
  expect_near(after_steps(several, adam, {.communication = {.bytes_per_pack = 8, .reproducible = true}}), expected);
}

TEST_P(MultiWorker, Case137_GradientsAreClippedBeforeOrAfterTheyAreAddedUp) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const auto step = [&](const GradientOptions& options) {
    const Variable<double> v(0, {.name = "v"});
    const Variable<Values> w(Values{0, 0}, {.name = "w"});
    Sgd optimizer{std::tuple(v, w), {.learning_rate = 1}};
    // Of all together 3 (r + 1), of which 1, 2 and 2 are for each element.
    several.run([&] {
      const double factor = id() + 1;
      optimizer.apply_gradients({factor, Values{2 * factor, 2 * factor}}, options);
    });
    for (int i = 1; i < GetParam(); ++i) EXPECT_EQ(v.components()[static_cast<std::size_t>(i)], v.components()[0]);
    std::vector<Values> all;
    for (std::size_t i = 0; i < v.components().size(); ++i) {
      all.push_back({v.components()[i], w.components()[i][0], w.components()[i][1]});
    }
    return all;
  };
  const double sum = sum_of_ids() + replicas();
  expect_near(step({}), {-sum, -2 * sum, -2 * sum});
  const double each = replicas();  // norms of 3 for each replica
  expect_near(step({.clipping = Clipping::before_reduction, .clip_norm = 3}), {-each, -2 * each, -2 * each});
  expect_near(step({.clipping = Clipping::after_reduction, .clip_norm = 3}), {-1, -2, -2});
  expect_near(step({.clipping = Clipping::after_reduction, .clip_norm = 3 * sum + 1}), {-sum, -2 * sum, -2 * sum});
}

TEST_P(MultiWorker, MetricsCountWhatAllReplicasHaveSeenInAllSteps) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  Sum sum;
  Mean mean;
  Accuracy accuracy;
  int sums = 0;
  int weights = 0;
  int weighted = 0;
  int right = 0;
  int answers = 0;
  for (int step = 1; step <= 3; ++step) {
    several.run([&] {
      sum.update_state(std::vector<int>{id(), step});
      mean.update_state(static_cast<double>(id()), 1 + id() % 2);
      accuracy.update_state(std::vector<int>{0, 1, step}, std::vector<int>{0, id(), step});
    });
    for (int replica = 0; replica < replicas(); ++replica) {
      sums += replica + step;
      weights += 1 + replica % 2;
      weighted += (1 + replica % 2) * replica;
      right += replica == 1 ? 3 : 2;
      answers += 3;
    }
    EXPECT_EQ(sum.result(), sums);
    EXPECT_DOUBLE_EQ(mean.result(), static_cast<double>(weighted) / weights);
    EXPECT_DOUBLE_EQ(accuracy.result(), static_cast<double>(right) / answers);
  }
  sum.update_state(std::vector<int>{100});
  EXPECT_EQ(sum.result(), sums + 100) << "from outside once for all workers";
  sum.reset_state();
  accuracy.reset_state();
  EXPECT_EQ(sum.result(), 0);
  EXPECT_EQ(accuracy.result(), 0);
}

TEST_P(MultiWorker, Case193_SharesOfTheLossAddUpToTheMeanOfTheWholeBatch) {
  MultiWorkerMirroredStrategy several = strategy();
  for (const std::size_t batch : {8, 12}) {
    std::size_t row = 0;
    for (const auto& step :
         several.distribute_dataset(range(29).batch(batch), {.shard_policy = AutoShardPolicy::data})) {
      const auto size = static_cast<std::int64_t>(step.global_size());
      const auto shares = several.run(
          [size](const std::vector<std::int64_t>& rows) {
            return average_loss(Values(rows.begin(), rows.end()), {.global_batch_size = size});
          },
          step.batches());
      double mean = 0;
      for (const std::size_t end = row + step.global_size(); row < end; ++row) mean += static_cast<double>(row);
      EXPECT_NEAR(several.reduce(get_loss_reduction(), shares), mean / static_cast<double>(size), 1e-12);
    }
    EXPECT_EQ(row, 29U);
  }
  const auto regularization = several.run([] { return scale_regularization(6.0); });
  EXPECT_DOUBLE_EQ(several.reduce(ReduceOp::sum, regularization), 6);
}

TEST_P(MultiWorker, Case53_SquaresInBatches) {
  MultiWorkerMirroredStrategy several = strategy();
  for (std::size_t batch = 1; batch <= 11; ++batch) {
    std::int64_t total = 0;
    for (const auto& step :
         several.distribute_dataset(range(10).batch(batch), {.shard_policy = AutoShardPolicy::data})) {
      const auto sums = several.run(
          [](const std::vector<std::int64_t>& rows) {
            std::int64_t sum = 0;
            for (const std::int64_t row : rows) sum += row * row;
            return sum;
          },
          step.batches());
      total += several.reduce(ReduceOp::sum, sums);
    }
    EXPECT_EQ(total, 285) << "batches of " << batch;
  }
}

}  // namespace
}  // namespace chorus::test
