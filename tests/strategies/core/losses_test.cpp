// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/losses.hpp>
#include <chorus/strategies/metrics.hpp>

#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;

TEST(Losses, Case193_SharesOfTheAverage) {
  MirroredStrategy strategy = mirrored(2);
  const auto losses = per_replica<std::vector<float>>(strategy, {{2, 3}, {4, 5}});
  const auto by_all =
      strategy.run([](const std::vector<float>& mine) { return average_loss(mine, {.global_batch_size = 4}); }, losses);
  EXPECT_THAT(by_all.values(), ElementsAre(1.25F, 2.25F));
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, by_all), 3.5F);
  const auto by_default = strategy.run([](const std::vector<float>& mine) { return average_loss(mine); }, losses);
  EXPECT_THAT(by_default.values(), ElementsAre(1.25F, 2.25F));
}

TEST(Losses, Case194_AShortBatchNeedsTheTrueSize) {
  MirroredStrategy strategy = mirrored(2);
  const auto losses = per_replica<std::vector<double>>(strategy, {{2, 3}, {4}});
  const auto right = strategy.run(
      [](const std::vector<double>& mine) { return average_loss(mine, {.global_batch_size = 3}); }, losses);
  EXPECT_DOUBLE_EQ(strategy.reduce(ReduceOp::sum, right), 3);
  const auto wrong = strategy.run([](const std::vector<double>& mine) { return average_loss(mine); }, losses);
  EXPECT_DOUBLE_EQ(strategy.reduce(ReduceOp::sum, wrong), 3.25);
}

TEST(Losses, WeightsAndNoExamples) {
  const std::vector<float> weights{1, 3};
  EXPECT_EQ(average_loss(std::vector<float>{2, 4}, {.sample_weight = &weights}), 7);
  EXPECT_EQ(average_loss(std::vector<float>{}), 0);
  const std::vector<float> too_few{1};
  expect_error(ErrorCode::invalid_argument, "one weight for each loss", [&] {
    std::ignore = average_loss(std::vector<float>{2, 4}, {.sample_weight = &too_few});
  });
}

TEST(Losses, Case196_WrongSizesAndContexts) {
  const std::vector<float> losses{1, 2};
  expect_error(ErrorCode::invalid_argument, "-1",
               [&] { std::ignore = average_loss(losses, {.global_batch_size = -1}); });
  MirroredStrategy strategy = mirrored(3);
  EXPECT_THAT(strategy.run([] { return scale_regularization(6.0F); }).values(), testing::Each(2));
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

TEST(Metrics, AreOfAllReplicasAndAllSteps) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  Sum sum;
  Mean mean;
  Accuracy accuracy;
  for (int step = 0; step < 2; ++step) {
    strategy.run([&] {
      sum.update_state(std::vector<float>{1, 2});
      mean.update_state(static_cast<float>(id()), 1 + 2 * id());
      accuracy.update_state(std::vector<int>{0, 1}, std::vector<int>{0, id()});
    });
  }
  EXPECT_EQ(sum.result(), 12);
  EXPECT_EQ(mean.result(), 0.75);
  EXPECT_EQ(accuracy.result(), 0.75);
  accuracy.reset_state();
  EXPECT_EQ(accuracy.result(), 0);
  expect_error(ErrorCode::invalid_argument, "2 labels and 1 predictions", [&] {
    accuracy.update_state(std::vector<int>{0, 1}, std::vector<int>{0});
  });
}

TEST(Losses, Case196a_AShortLastBatchWeighsWhatItHas) {
  MirroredStrategy strategy = mirrored(2);
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
