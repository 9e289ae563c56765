// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/losses.hpp>
#include <chorus/strategies/metrics.hpp>

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

TEST_P(WithReplicas, Case193_SharesOfTheAverage) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto two = [](int i) {
    return std::vector<float>{2 * static_cast<float>(i) + 2, 2 * static_cast<float>(i) + 3};
  };
  const auto losses = per_replica(strategy, list_of(replicas(), two));
  const auto n = static_cast<float>(replicas());
  const std::vector<float> shares =
      list_of(replicas(), [n](int i) { return (4 * static_cast<float>(i) + 5) / (2 * n); });
  const auto by_all = strategy.run(
      [](const std::vector<float>& mine) { return average_loss(mine, {.global_batch_size = 2 * replicas()}); }, losses);
  EXPECT_THAT(strategy.local_results(by_all), testing::Pointwise(testing::FloatEq(), shares));
  EXPECT_FLOAT_EQ(strategy.reduce(ReduceOp::sum, by_all), n + 1.5F) << "the mean of 2, 3, ... 2 n + 1";
  const auto by_default = strategy.run([](const std::vector<float>& mine) { return average_loss(mine); }, losses);
  EXPECT_THAT(strategy.local_results(by_default), testing::Pointwise(testing::FloatEq(), shares));
}

TEST_P(WithSeveralReplicas, Case194_AShortBatchNeedsTheTrueSize) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto two_or_one = [](int i) {  // 2, 3, 4, ... of which the last replica has one
    std::vector<double> losses{2.0 * i + 2, 2.0 * i + 3};
    if (i == last()) losses.pop_back();
    return losses;
  };
  const auto losses = per_replica(strategy, list_of(replicas(), two_or_one));
  const int size = 2 * replicas() - 1;
  const auto right = strategy.run(
      [size](const std::vector<double>& mine) { return average_loss(mine, {.global_batch_size = size}); }, losses);
  EXPECT_DOUBLE_EQ(strategy.reduce(ReduceOp::sum, right), replicas() + 1) << "the mean of 2, 3, ... 2 n";
  const auto wrong = strategy.run([](const std::vector<double>& mine) { return average_loss(mine); }, losses);
  const double of_full = replicas() * (2.0 * replicas() - 1) - 1;  // 2 + ... + 2 n - 1
  EXPECT_DOUBLE_EQ(strategy.reduce(ReduceOp::sum, wrong), of_full / (2 * replicas()) + 2.0)
      << "what it must not be: the last one counts twice";
}

template <class T>
constexpr bool averages = requires(const T& losses) {
  average_loss(losses);
};
static_assert(averages<std::vector<float>> && averages<std::vector<double>>);
static_assert(!averages<std::vector<int>> && !averages<std::vector<std::int64_t>>, "would be cut off");

TEST(Losses, WeightsAndNoExamples) {
  const std::vector<float> weights{1, 3};
  EXPECT_EQ(average_loss(std::vector<float>{2, 4}, {.sample_weight = &weights}), 7);
  EXPECT_EQ(average_loss(std::vector<float>{}), 0);
  const std::vector<float> too_few{1};
  expect_error(ErrorCode::invalid_argument, "one weight for each loss", [&] {
    std::ignore = average_loss(std::vector<float>{2, 4}, {.sample_weight = &too_few});
  });
}

TEST_P(WithReplicas, Case196_WrongSizesAndContexts) {
  const std::vector<float> losses{1, 2};
  expect_error(ErrorCode::invalid_argument, "-1",
               [&] { std::ignore = average_loss(losses, {.global_batch_size = -1}); });
  expect_error(ErrorCode::invalid_argument, "is 0, but there are losses of 2 examples",
               [&] { std::ignore = average_loss(losses, {.global_batch_size = 0}); });
  EXPECT_EQ(average_loss(std::vector<float>{}, {.global_batch_size = 0}), 0);
  MirroredStrategy strategy = mirrored(replicas());
  EXPECT_THAT(strategy.run([] { return scale_regularization(6.0F); }).values(),
              testing::Each(6 / static_cast<float>(replicas())));
  EXPECT_EQ(scale_regularization(6.0F), 6) << "of the default strategy";
  const auto scope = strategy.scope();
  expect_error(ErrorCode::wrong_context, "outside of the replicas", [&] { std::ignore = average_loss(losses); });
  EXPECT_EQ(average_loss(losses, {.global_batch_size = 6}), 0.5);
  expect_error(ErrorCode::wrong_context, "scale_regularization", [] { std::ignore = scale_regularization(6.0F); });
}

template <class T>
concept HasAShare = requires(T loss) {
  scale_regularization(loss);
};

TEST(Losses, IntegersHaveNoShares) {
  static_assert(HasAShare<float> && HasAShare<double>);
  static_assert(!HasAShare<int> && !HasAShare<std::size_t> && !HasAShare<bool>, "7 of 3 replicas would be 2 each");
}

TEST(Losses, Case197_LossesAreSummed) { EXPECT_EQ(get_loss_reduction(), ReduceOp::sum); }

TEST_P(WithReplicas, MetricsAreOfAllReplicasAndAllSteps) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  Sum sum;
  Mean mean;
  Accuracy accuracy;
  int weights = 0;
  int weighted = 0;
  for (int replica = 0; replica < replicas(); ++replica) {
    weights += 1 + 2 * replica;
    weighted += (1 + 2 * replica) * replica;
  }
  for (int step = 1; step <= 2; ++step) {
    strategy.run([&] {
      sum.update_state(std::vector<float>{1, 2});
      mean.update_state(static_cast<float>(id()), 1 + 2 * id());
      accuracy.update_state(std::vector<int>{0, 1}, std::vector<int>{0, id()});
    });
    EXPECT_EQ(sum.result(), 3 * replicas() * step);
    EXPECT_DOUBLE_EQ(mean.result(), static_cast<double>(weighted) / weights);
    EXPECT_DOUBLE_EQ(accuracy.result(), (replicas() + (replicas() > 1 ? 1.0 : 0.0)) / (2.0 * replicas()));
  }
  accuracy.reset_state();
  EXPECT_EQ(accuracy.result(), 0);
  expect_error(ErrorCode::invalid_argument, "2 labels and 1 predictions", [&] {
    accuracy.update_state(std::vector<int>{0, 1}, std::vector<int>{0});
  });
}

TEST(Losses, MetricsBelongToOneStrategy) {
  MirroredStrategy strategy = mirrored(2);
  MirroredStrategy other = mirrored(2);
  const auto made = [&] {
    const auto scope = strategy.scope();
    return std::make_unique<Mean>("loss");
  };
  const std::unique_ptr<Mean> mean = made();
  mean->update_state(3.0);
  {
    const auto scope = other.scope();
    expect_error(ErrorCode::wrong_context, "\"loss\": it belongs to", [&] { mean->update_state(5.0); });
    expect_error(ErrorCode::wrong_context, "\"loss", [&] { std::ignore = mean->result(); });
  }
  EXPECT_EQ(mean->result(), 3);
}

TEST_P(WithReplicas, Case196a_AShortLastBatchWeighsWhatItHas) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto batches = make_array_dataset(std::vector<double>(1000, 1)).batch(32);
  double by_nominal_size = 0;
  double by_own_size = 0;
  int steps = 0;
  for (const auto& step : strategy.distribute_dataset(batches)) {
    const auto share = [&](std::int64_t size) {
      const auto loss = [size](const std::vector<double>& losses) {
        return average_loss(losses, {.global_batch_size = size});
      };
      return strategy.reduce(get_loss_reduction(), strategy.run(loss, step.batches()));
    };
    by_nominal_size += share(32);
    by_own_size += share(static_cast<std::int64_t>(step.global_size()));
    ++steps;
  }
  EXPECT_EQ(steps, 32);
  EXPECT_DOUBLE_EQ(by_nominal_size / steps, 0.9765625) << "what it must not be";
  EXPECT_DOUBLE_EQ(by_own_size / steps, 1);
}

}  // namespace
}  // namespace chorus::test
