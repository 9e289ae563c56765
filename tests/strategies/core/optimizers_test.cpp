// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/losses.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/strategy.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::DoubleEq;
using testing::Each;

/// What one step at the rate 1 makes of 0 where replica r has the gradient r + 1.
std::vector<double> after_a_step(int replicas, const GradientOptions& options) {
  MirroredStrategy strategy = mirrored(replicas);
  const auto scope = strategy.scope();
  const Variable<double> v(0.0);
  Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 1}};
  strategy.run([&] { optimizer.apply_gradients({static_cast<double>(id() + 1)}, options); });
  EXPECT_EQ(optimizer.steps(), 1);
  return v.components();
}

TEST_P(WithReplicas, Case137_GradientsAreAddedAndClippedBeforeOrAfter) {
  const int n = replicas();
  const double sum = n + sum_of_ids();
  EXPECT_THAT(after_a_step(n, {}), Each(-sum));
  EXPECT_THAT(after_a_step(n, {.clipping = Clipping::before_reduction, .clip_norm = 1}), Each(DoubleEq(-n)));
  EXPECT_THAT(after_a_step(n, {.clipping = Clipping::after_reduction, .clip_norm = 0.5}), Each(DoubleEq(-0.5)));
  EXPECT_THAT(after_a_step(n, {.clipping = Clipping::after_reduction, .clip_norm = sum + 1}), Each(-sum));
  EXPECT_THAT(after_a_step(n, {.communication = {.reproducible = true}}), Each(-sum));
  EXPECT_EQ(after_a_step(n, {.aggregate = false}), list_of(n, [](int i) { return -1.0 - i; }));
}

TEST_P(WithReplicas, Case137_ScaledLossesGiveTheGlobalMeanGradient) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> v(0.0);
  Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 1}};
  const auto batches = make_array_dataset(list_of(20, [](int i) { return static_cast<double>(i); })).batch(9);
  double expected = 0;  // by one replica that sees each batch as a whole: the loss of a row x is v x
  double row = 0;
  for (const auto& step : strategy.distribute_dataset(batches)) {
    strategy.run(
        [&](const std::vector<double>& rows) {
          const double share = average_loss(rows, {.global_batch_size = static_cast<std::int64_t>(step.global_size())});
          optimizer.apply_gradients({share});
        },
        step.batches());
    double sum = 0;
    for (const double end = row + static_cast<double>(step.global_size()); row < end; ++row) sum += row;
    expected -= sum / static_cast<double>(step.global_size());
  }
  EXPECT_EQ(row, 20);
  for (const double each : v.components()) EXPECT_NEAR(each, expected, 1e-12);
}

TEST(Optimizers, LengthsToClipToArePositive) {
  for (const double wrong : {0.0, -1.0, std::nan("")}) {
    expect_error(ErrorCode::invalid_argument, "clip_norm is",
                 [&] { after_a_step(2, {.clipping = Clipping::after_reduction, .clip_norm = wrong}); });
  }
}

TEST(Optimizers, ClippingHasALengthAndALengthIsForClipping) {
  expect_error(ErrorCode::invalid_argument, "clip_norm without clipping", [] { after_a_step(2, {.clip_norm = 1}); });
  for (const Clipping clipping : {Clipping::before_reduction, Clipping::after_reduction}) {
    expect_error(ErrorCode::invalid_argument, "clipping without a clip_norm",
                 [&] { after_a_step(2, {.clipping = clipping}); });
  }
}

TEST(Optimizers, NumbersThatTheyCannotWorkWith) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const std::tuple variables{Variable<double>(0.0)};
  const double none = std::nan("");
  const auto sgd = [&](const char* option, const SgdOptions& options) {
    expect_error(ErrorCode::invalid_argument, std::string("Sgd: ") + option, [&] { Sgd(variables, options); });
  };
  const auto adam = [&](const char* option, const AdamOptions& options) {
    expect_error(ErrorCode::invalid_argument, std::string("Adam: ") + option, [&] { Adam(variables, options); });
  };
  for (const double rate : {-1.0, none, std::numeric_limits<double>::infinity()}) {
    sgd("learning_rate is", {.learning_rate = rate});
    adam("learning_rate is", {.learning_rate = rate});
    adam("epsilon is", {.epsilon = rate});
  }
  for (const double share : {-0.1, 2.0, none}) {
    sgd("momentum is", {.momentum = share});
    adam("beta_1 is", {.beta_1 = share});
    adam("beta_2 is", {.beta_2 = share});
  }
  adam("beta_1 is 1", {.beta_1 = 1});
  Sgd(variables, {.learning_rate = 0, .momentum = 1});
  Adam(variables, {.learning_rate = 0, .beta_1 = 0, .beta_2 = 0, .epsilon = 0});
}

template <class T>
class Optimizers16Bit : public testing::Test {};
using ShortNumbers = testing::Types<float16_t, bfloat16_t>;
TYPED_TEST_SUITE(Optimizers16Bit, ShortNumbers);

TYPED_TEST(Optimizers16Bit, AreComputedInFloatAndRoundedWhenStored) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  using Short = std::vector<TypeParam>;
  const auto both = [&](const auto& change) {
    const Variable<Short> halves(Short(2, TypeParam(4)));
    const Variable<std::vector<float>> floats(std::vector<float>(2, 4));
    change(halves, Short{TypeParam(0.5F), TypeParam(1)});
    change(floats, std::vector<float>{0.5F, 1});
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(halves.value()[i], TypeParam(floats.value()[i])) << i;
    return static_cast<float>(halves.value()[0]);
  };
  const GradientOptions clipped{.clipping = Clipping::after_reduction, .clip_norm = 1};
  const float sgd = both([&](const auto& v, const auto& gradient) {
    Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 0.25, .momentum = 0.5, .nesterov = true}};
    strategy.run([&] { optimizer.apply_gradients({gradient}); });
  });
  EXPECT_EQ(sgd, 4 - 0.25F * (1 + 0.5F));
  both([&](const auto& v, const auto& gradient) {
    Adam optimizer{std::tuple{v}, AdamOptions{.learning_rate = 0.25}};
    strategy.run([&] { optimizer.apply_gradients({gradient}, clipped); });
  });
}

TEST_P(WithReplicas, ReproducibleAveragesAreDivided) {
  MirroredStrategy strategy = mirrored(replicas(), nullptr, {.reproducible = true});
  const auto averages = strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::average, 1.0 + id()); });
  EXPECT_THAT(averages.values(), Each((1.0 + replicas()) / 2));
}

}  // namespace
}  // namespace chorus::test
