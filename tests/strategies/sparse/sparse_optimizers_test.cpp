// SPDX-License-Identifier: Apache-2.0
#include "sparse/slices.hpp"

#include <chorus/strategies/gradient_accumulator.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/strategy.hpp>

#include <cmath>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatEq;
using List = std::vector<float>;

/// The gradients of step `step`: one row of all replicas and one of its own.
ListSlices gradient(int step) {
  return list_slices({1, (3 + id()) % 8, 1}, {static_cast<float>(step), 2, static_cast<float>(id())}, 8);
}

/// What `steps` steps make of a variable of 8 ones; `dense`: of the same gradients as whole tensors.
template <class MakeOptimizer>
std::vector<List> trained(int replicas, bool dense, const MakeOptimizer& make, const GradientOptions& options = {}) {
  MirroredStrategy strategy = mirrored(replicas);
  const auto scope = strategy.scope();
  const Variable<List> v(List(8, 1.0F), {.name = "v"});
  auto optimizer = make(std::tuple{v});
  for (int step = 0; step < 3; ++step) {
    strategy.run([&] {
      if (dense)
        optimizer.apply_gradients({to_dense(gradient(step))}, options);
      else
        optimizer.apply_gradients(std::tuple{gradient(step)}, options);
    });
  }
  EXPECT_EQ(optimizer.steps(), 3);
  return v.components();
}

class DenseAndSparse : public WithReplicas {};

TEST_P(DenseAndSparse, SgdAndAdamAsWithDenseGradients) {
  const auto sgd = [](auto variables) { return Sgd{variables, SgdOptions{.learning_rate = 0.5}}; };
  EXPECT_EQ(trained(replicas(), false, sgd), trained(replicas(), true, sgd));
  const auto adam = [](auto variables) { return Adam{variables, AdamOptions{.learning_rate = 0.5}}; };
  EXPECT_EQ(trained(replicas(), false, adam), trained(replicas(), true, adam));
}

INSTANTIATE_TEST_SUITE_P(Replicas, DenseAndSparse, testing::Values(1, 2, 3, 4, 8));

TEST(SparseOptimizers, TheGradientIsOfTheRowsOfAllReplicas) {
  const auto sgd = [](auto variables) { return Sgd{variables, SgdOptions{.learning_rate = 1}}; };
  // Row 1: 2 replicas give the step each time, and one of them 1.
  EXPECT_THAT(trained(2, false, sgd), Each(ElementsAre(1, -8, 1, -5, -5, 1, 1, 1)));
}

TEST(SparseOptimizers, MomentumIsOfTheRowsThatAreNamed) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<List> v(List(4, 0.0F));
  Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 1, .momentum = 0.5}};
  const auto step = [&](std::int64_t row) {
    strategy.run([&] { optimizer.apply_gradients(std::tuple{list_slices({row}, {1}, 4)}); });
  };
  step(0);
  EXPECT_THAT(v.components(), Each(ElementsAre(-2, 0, 0, 0)));
  step(3);
  EXPECT_THAT(v.components(), Each(ElementsAre(-2, 0, 0, -2))) << "row 0 rests";
  step(0);
  EXPECT_THAT(v.components(), Each(ElementsAre(-5, 0, 0, -2))) << "0.5 * -2 - 2 from the first step on";
}

TEST(SparseOptimizers, LazyAdamLeavesOtherRowsAlone) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<List> eager_variable(List(3, 0.0F));
  const Variable<List> lazy_variable(List(3, 0.0F));
  Adam eager{std::tuple{eager_variable}, AdamOptions{.learning_rate = 1}};
  Adam lazy{std::tuple{lazy_variable}, AdamOptions{.learning_rate = 1, .lazy = true}};
  for (const std::int64_t row : {0, 2}) {
    strategy.run([&] {
      eager.apply_gradients(std::tuple{list_slices({row}, {4}, 3)});
      lazy.apply_gradients(std::tuple{list_slices({row}, {4}, 3)});
    });
  }
  // Step 1 moves row 0 by 1; in step 2 the moments of row 2 are 0.1 g and 0.001 g^2, the rate sqrt(1 - 0.999^2) / (1 -
  // 0.9^2), and those of row 0 0.9 and 0.999 times as much as they were.
  const double rate = std::sqrt(1 - 0.999 * 0.999) / (1 - 0.9 * 0.9);
  const auto new_row = static_cast<float>(-rate * 0.1 / std::sqrt(0.001));
  const auto old_row = static_cast<float>(-1 - rate * 0.09 / std::sqrt(0.000999));
  using testing::FloatNear;
  EXPECT_THAT(lazy_variable.value(), ElementsAre(FloatNear(-1, 1e-4F), 0, FloatNear(new_row, 1e-4F)));
  EXPECT_THAT(eager_variable.value()[0], FloatNear(old_row, 1e-4F));
  EXPECT_THAT(eager_variable.value()[2], FloatNear(new_row, 1e-4F));
}

TEST(SparseOptimizers, ClippingMeasuresRowsThatAreAddedUp) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const auto stepped = [&](const GradientOptions& options) {
    const Variable<List> v(List(3, 0.0F));
    const Variable<List> w(List(1, 0.0F));
    Sgd optimizer{std::tuple{v, w}, SgdOptions{.learning_rate = 1}};
    strategy.run([&] { optimizer.apply_gradients(std::tuple{list_slices({1, 1}, {1, 2}, 3), List{4}}, options); });
    return std::pair(v.value()[1], w.value()[0]);
  };
  EXPECT_EQ(stepped({}), std::pair(-6.0F, -8.0F));
  EXPECT_EQ(stepped({.clipping = Clipping::before_reduction, .clip_norm = 2.5}), std::pair(-3.0F, -4.0F));
  EXPECT_EQ(stepped({.clipping = Clipping::after_reduction, .clip_norm = 5}), std::pair(-3.0F, -4.0F));
  EXPECT_EQ(stepped({.aggregate = false}), std::pair(-3.0F, -4.0F));
}

TEST(SparseOptimizers, WrongGradientsAreRefused) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<List> v(List(3, 0.0F), {.name = "v"});
  Sgd optimizer{std::tuple{v}};
  expect_error(ErrorCode::invalid_argument, "apply_gradients of \"v\" in replica",
               [&] { strategy.run([&] { optimizer.apply_gradients(std::tuple{list_slices({3}, {1}, 3)}); }); });
  expect_error(ErrorCode::invalid_argument, "of shape (4) for a variable of shape (3)",
               [&] { strategy.run([&] { optimizer.apply_gradients(std::tuple{list_slices({0}, {1}, 4)}); }); });
  EXPECT_EQ(optimizer.steps(), 0);
}

TEST(SparseOptimizers, AnAccumulatorAddsSlicesUp) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<List> v(List(3, 0.0F));
  Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 1}};
  GradientAccumulator<ListSlices> accumulator(3);
  strategy.run([&] {
    for (const std::int64_t row : {2, 0, 2}) {
      const auto sums = accumulator.add({list_slices({row}, {static_cast<float>(id() + 1)}, 3)});
      if (!sums) continue;
      EXPECT_THAT(std::get<0>(*sums).indices, ElementsAre(0, 2));
      optimizer.apply_gradients(*sums);
    }
  });
  EXPECT_THAT(v.components(), Each(ElementsAre(-3, 0, -6)));
  expect_error(ErrorCode::invalid_argument, "of shape (4) after those of one of shape (3)", [&] {
    strategy.run([&] {
      std::ignore = accumulator.add({list_slices({0}, {1}, 3)});
      std::ignore = accumulator.add({list_slices({0}, {1}, 4)});
    });
  });
}

}  // namespace
}  // namespace chorus::test
