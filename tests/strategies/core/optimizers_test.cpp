// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/strategy.hpp>

#include <cmath>
#include <tuple>

namespace chorus::test {
namespace {

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

TEST(Optimizers, Case137_GradientsAreAddedAndClippedBeforeOrAfter) {
  EXPECT_THAT(after_a_step(2, {}), Each(-3));
  EXPECT_THAT(after_a_step(2, {.clipping = Clipping::before_reduction}), Each(-2));
  EXPECT_THAT(after_a_step(2, {.clipping = Clipping::after_reduction, .clip_norm = 2}), Each(-2));
  EXPECT_THAT(after_a_step(2, {.communication = {.reproducible = true}}), Each(-3));
  EXPECT_THAT(after_a_step(2, {.aggregate = false}), testing::ElementsAre(-1, -2));
}

TEST(Optimizers, LengthsToClipToArePositive) {
  for (const double wrong : {0.0, -1.0, std::nan("")}) {
    expect_error(ErrorCode::invalid_argument, "clip_norm is",
                 [&] { after_a_step(2, {.clipping = Clipping::after_reduction, .clip_norm = wrong}); });
  }
}

TEST(Optimizers, ReproducibleAveragesAreDivided) {
  MirroredStrategy strategy = mirrored(2, nullptr, {.reproducible = true});
  const auto averages = strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::average, 1.0 + id()); });
  EXPECT_THAT(averages.values(), Each(1.5));
}

}  // namespace
}  // namespace chorus::test
