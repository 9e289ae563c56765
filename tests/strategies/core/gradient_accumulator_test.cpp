// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/gradient_accumulator.hpp>
#include <chorus/strategies/optimizers.hpp>

#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST_P(WithReplicas, SmallBatchesAddedUpCountAsALargeOne) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const auto trained = [&](int batches) {
    const Variable<std::vector<double>> v(std::vector<double>{0, 0});
    Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 0.5}};
    GradientAccumulator<std::vector<double>> accumulator(batches);
    strategy.run([&] {
      for (int step = 0; step < 2; ++step) {
        for (int batch = 0; batch < batches; ++batch) {
          const double share = (1.0 + id() + step) / batches;
          const auto sums = accumulator.add({std::vector<double>{share, 2 * share}});
          ASSERT_EQ(sums.has_value(), batch == batches - 1);
          if (sums) optimizer.apply_gradients(*sums);
        }
      }
    });
    return v.components();
  };
  const double sum = 2 * sum_of_ids() + 3 * replicas();  // of 1 + id, then of 2 + id
  for (const int batches : {1, 4}) EXPECT_THAT(trained(batches), Each(ElementsAre(-0.5 * sum, -sum)));
}

TEST_P(WithReplicas, AnAccumulatorBeginsAnewWhenItIsReset) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  GradientAccumulator<double> accumulator(2);
  strategy.run([&] {
    if (id() % 2 == 0) std::ignore = accumulator.add({7});  // as where the others have thrown before
  });
  accumulator.reset();
  strategy.run([&] {
    EXPECT_FALSE(accumulator.add({1}));
    const auto sums = accumulator.add({2.0 + id()});
    ASSERT_TRUE(sums);
    EXPECT_EQ(std::get<0>(*sums), 3 + id());
  });
}

TEST(GradientAccumulator, NumbersOf16BitsAreAddedUp) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  GradientAccumulator<bfloat16_t, std::vector<float16_t>> accumulator(2);
  strategy.run([&] {
    EXPECT_FALSE(accumulator.add({bfloat16_t(1.5F), {float16_t(2)}}));
    const auto sums = accumulator.add({bfloat16_t(0.25F), {float16_t(0.5F)}});
    ASSERT_TRUE(sums);
    EXPECT_EQ(std::get<0>(*sums), 1.75F);
    EXPECT_EQ(std::get<1>(*sums).front(), 2.5F);
  });
}

TEST(GradientAccumulator, WrongCallsAreRefused) {
  MirroredStrategy strategy = mirrored(2);
  expect_error(ErrorCode::invalid_argument, "give 1 or more", [] { GradientAccumulator<float>(0); });
  GradientAccumulator<std::vector<float>> alone(2);
  expect_error(ErrorCode::wrong_context, "scope", [&] { strategy.run([&] { std::ignore = alone.add({{1}}); }); });
  const auto scope = strategy.scope();
  expect_error(ErrorCode::wrong_context, "outside of the replicas", [&] { std::ignore = alone.add({{1}}); });
  GradientAccumulator<std::vector<float>> both(2);
  const auto unequal = [&] {
    std::ignore = both.add({{1}});
    std::ignore = both.add({{1, 2}});
  };
  expect_error(ErrorCode::invalid_argument, "of shape (2) after one of shape (1)", [&] { strategy.run(unequal); });
}

}  // namespace
}  // namespace chorus::test
