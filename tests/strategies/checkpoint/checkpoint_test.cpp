// SPDX-License-Identifier: Apache-2.0
// What is saved under one strategy is restored under another.
#include "strategies/checkpoint/folder.hpp"
#include "strategies/core/replicas.hpp"

#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/checkpoint.hpp>
#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/npy.hpp>
#include <chorus/strategies/optimizers.hpp>

#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

/// With another number of replicas than it was saved with.
class Checkpoints : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  [[nodiscard]] static MirroredStrategy saving() { return mirrored(std::get<0>(GetParam())); }
  [[nodiscard]] static MirroredStrategy restoring() { return mirrored(std::get<1>(GetParam())); }
  [[nodiscard]] std::string folder() const { return scratch_.path("saved"); }

 private:
  TemporaryFolder scratch_;
};

INSTANTIATE_TEST_SUITE_P(FromAndTo, Checkpoints,
                         testing::Combine(testing::Values(1, 2, 3, 4, 8), testing::Values(1, 2, 3, 4, 8)));

/// Variables of many types.
struct Everything {
  Variable<std::vector<float>> vector;
  Variable<Tensor<double, 2>> matrix;
  Variable<Tensor<std::complex<double>, 3>> complex;
  Variable<std::vector<bfloat16_t>> small;
  Variable<long double> wide;
  Variable<std::vector<std::uint16_t>> empty;

  explicit Everything(bool filled)
      : vector(filled ? std::vector<float>{1, -2.5F, 3e30F} : std::vector<float>(3)),
        matrix(filled ? Tensor<double, 2>({2, 3}, {1, 2, 3, 4, 5, 6}) : Tensor<double, 2>({2, 3})),
        complex(filled ? Tensor<std::complex<double>, 3>({1, 1, 2}, {{1, 2}, {3, -4}})
                       : Tensor<std::complex<double>, 3>({1, 1, 2})),
        small(filled ? std::vector{bfloat16_t(0.5F), bfloat16_t(-7.0F)} : std::vector<bfloat16_t>(2)),
        wide(filled ? 1.0L / 3 : 0.0L),
        empty(std::vector<std::uint16_t>()) {}

  template <class Visit>
  void for_each_saved(Visit&& visit) const {
    visit("vector", vector);
    visit("matrix", matrix);
    visit("complex", complex);
    visit("small", small);
    visit("wide", wide);
    visit("empty", empty);
  }
};

TEST_P(Checkpoints, Case125_EveryComponentEqualsWhatWasSaved) {
  {
    MirroredStrategy strategy = saving();
    const auto scope = strategy.scope();
    const Everything all(true);
    Checkpoint{{"all", all}}.save(folder(), 7);
  }
  MirroredStrategy strategy = restoring();
  const auto scope = strategy.scope();
  const Everything all(false);
  const Everything expected(true);
  EXPECT_EQ((Checkpoint{{"all", all}}.restore(folder())), 7);
  EXPECT_EQ(all.vector.components(), expected.vector.components());
  EXPECT_EQ(all.matrix.components(), expected.matrix.components());
  EXPECT_EQ(all.complex.components(), expected.complex.components());
  EXPECT_EQ(all.wide.components(), expected.wide.components());
  for (const auto& component : all.small.components()) {
    EXPECT_EQ(static_cast<float>(component.at(0)), 0.5F);
    EXPECT_EQ(static_cast<float>(component.at(1)), -7.0F);
  }
  EXPECT_THAT(all.empty.components(), Each(testing::IsEmpty()));
}

/// A variable synchronised on read whose components are `first`, `first` + 1, ...
template <class T>
Variable<T> on_read(VariableAggregation aggregation, T first) {
  const Variable<T> v(T{},
                      {.name = "v", .synchronization = VariableSynchronization::on_read, .aggregation = aggregation});
  for (T& component : v.components()) component = first++;
  return v;
}

TEST_P(Checkpoints, Case125_WhatIsSynchronisedOnReadIsDividedAgain) {
  const auto [before, after] = GetParam();
  for (const auto aggregation :
       {VariableAggregation::sum, VariableAggregation::mean, VariableAggregation::only_first_replica}) {
    SCOPED_TRACE(static_cast<int>(aggregation));
    const std::string name = folder() + std::to_string(static_cast<int>(aggregation));
    double value = 3;
    if (aggregation != VariableAggregation::only_first_replica) value = 3.0 * before + before * (before - 1) / 2.0;
    if (aggregation == VariableAggregation::mean) value /= before;
    {
      MirroredStrategy strategy = saving();
      const auto scope = strategy.scope();
      Checkpoint{on_read(aggregation, 3.0)}.save(name);
    }
    MirroredStrategy strategy = restoring();
    const auto scope = strategy.scope();
    const auto v = on_read(aggregation, 100.0);
    Checkpoint{v}.restore(name);
    EXPECT_THAT(v.components(), Each(aggregation == VariableAggregation::sum ? value / after : value));
    EXPECT_DOUBLE_EQ(v.value(), value);
  }
}

TEST_P(Checkpoints, SumsOfIntegersKeepTheirTotal) {
  const auto [before, after] = GetParam();
  for (const std::int16_t first : {-100, -1, 0, 7}) {
    const std::string name = folder() + std::to_string(first);
    {
      MirroredStrategy strategy = saving();
      const auto scope = strategy.scope();
      Checkpoint{on_read(VariableAggregation::sum, first)}.save(name);
    }
    MirroredStrategy strategy = restoring();
    const auto scope = strategy.scope();
    const auto v = on_read(VariableAggregation::sum, std::int16_t{1});
    Checkpoint{v}.restore(name);
    EXPECT_EQ(v.value(), first * before + before * (before - 1) / 2);
    const auto [least, most] = std::ranges::minmax(v.components());
    EXPECT_LE(most - least, 1) << after << " replicas";
  }
}

/// The values after `steps` steps of `optimizer` whose gradients differ between steps.
template <class Optimizer>
std::vector<double> trained(Strategy& strategy, Optimizer& optimizer, const Variable<std::vector<double>>& weights,
                            int steps) {
  for (int step = 0; step < steps; ++step) {
    strategy.run([&] {
      const double share = 1.0 / strategy.num_replicas_in_sync();
      std::vector<double> gradient = weights.value();
      for (double& each : gradient) each = (each - 0.25 * static_cast<double>(optimizer.steps())) * share;
      optimizer.apply_gradients({gradient});
    });
  }
  return weights.value();
}

/// What is trained after 3 steps, saved, and trained by 4 more; and what is restored and trained by as many.
template <class MakeOptimizer>
void expect_the_same_training(MirroredStrategy& saving, MirroredStrategy& restoring, const std::string& folder,
                              const MakeOptimizer& make) {
  std::vector<double> expected;
  {
    const auto scope = saving.scope();
    const Variable<std::vector<double>> weights({1, 2}, {.name = "weights"});
    auto optimizer = make(weights);
    trained(saving, optimizer, weights, 3);
    Checkpoint{weights, {"optimizer", optimizer}}.save(folder);
    expected = trained(saving, optimizer, weights, 4);
  }
  const auto scope = restoring.scope();
  const Variable<std::vector<double>> weights({0, 0}, {.name = "weights"});
  auto optimizer = make(weights);
  trained(restoring, optimizer, weights, 1);
  Checkpoint{weights, {"optimizer", optimizer}}.restore(folder);
  EXPECT_EQ(optimizer.steps(), 3);
  const std::vector<double> resumed = trained(restoring, optimizer, weights, 4);
  if (saving.num_replicas_in_sync() == restoring.num_replicas_in_sync()) {
    EXPECT_EQ(resumed, expected) << "bit by bit";
  } else {
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(resumed[i], expected[i], 1e-12);
  }
}

TEST_P(Checkpoints, OptimizersGoOnWhereTheyWere) {
  MirroredStrategy before = saving();
  MirroredStrategy after = restoring();
  using Weights = std::tuple<Variable<std::vector<double>>>;
  expect_the_same_training(before, after, folder() + "sgd", [](const auto& weights) {
    return Sgd(Weights(weights), {.learning_rate = 0.1, .momentum = 0.9});
  });
  expect_the_same_training(before, after, folder() + "adam",
                           [](const auto& weights) { return Adam(Weights(weights), {.learning_rate = 0.1}); });
}

TEST_P(Checkpoints, MetricsGoOnWhereTheyWere) {
  const std::vector<int> labels = {1, 1};
  const std::vector<int> guesses = {1, 2};
  {
    MirroredStrategy strategy = saving();
    const auto scope = strategy.scope();
    Mean loss;
    Sum total;
    Accuracy accuracy;
    strategy.run([&] {
      loss.update_state(4.0);
      total.update_state(1.0);
      accuracy.update_state(labels, guesses);
    });
    Checkpoint{{"loss", loss}, {"total", total}, {"accuracy", accuracy}}.save(folder());
  }
  MirroredStrategy strategy = restoring();
  const auto scope = strategy.scope();
  Mean loss;
  Sum total;
  Accuracy accuracy;
  loss.update_state(1000.0);
  Checkpoint{{"loss", loss}, {"total", total}, {"accuracy", accuracy}}.restore(folder());
  EXPECT_DOUBLE_EQ(loss.result(), 4);
  EXPECT_DOUBLE_EQ(total.result(), std::get<0>(GetParam()));
  EXPECT_DOUBLE_EQ(accuracy.result(), 0.5);
}

/// Components 3 and 4 of two replicas, saved and restored.
std::vector<double> restored_3_and_4(VariableAggregation aggregation, double saved) {
  const TemporaryFolder scratch;
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const auto v = on_read(aggregation, 3.0);
  const Checkpoint checkpoint{v};
  checkpoint.save(scratch.path("saved"));
  EXPECT_EQ((read_npy<double, 0>(scratch.path("saved/v.npy"))), saved);
  EXPECT_THAT(v.components(), ElementsAre(3, 4)) << "saving changes nothing";
  checkpoint.restore(scratch.path("saved"));
  return v.components();
}

TEST(Checkpoint, Case124_WhatIsSavedOfComponents3And4) {
  EXPECT_THAT(restored_3_and_4(VariableAggregation::sum, 7), ElementsAre(3.5, 3.5));
  EXPECT_THAT(restored_3_and_4(VariableAggregation::mean, 3.5), ElementsAre(3.5, 3.5));
  EXPECT_THAT(restored_3_and_4(VariableAggregation::only_first_replica, 3), ElementsAre(3, 3));
}

TEST(Checkpoint, Case124_ASumOf2IsRestoredAs1InEachOfTwoReplicas) {
  const TemporaryFolder scratch;
  Checkpoint{Variable<double>(2, {.name = "v"})}.save(scratch.path("saved"));
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const auto v = on_read(VariableAggregation::sum, 5.0);
  Checkpoint{v}.restore(scratch.path("saved"));
  EXPECT_THAT(v.components(), ElementsAre(1, 1));
}

TEST(Checkpoint, IsOfAnyStrategyInsideOrOutsideOfItsScope) {
  const TemporaryFolder scratch;
  const Variable<double> ordinary(1.5, {.name = "v"});
  Checkpoint{ordinary}.save(scratch.path("default"));
  CentralStorageStrategy central(some_devices(3));
  std::optional<Variable<double>> stored;
  {
    const auto scope = central.scope();
    stored.emplace(0.0, VariableOptions{.name = "v"});
    Checkpoint{*stored}.restore(scratch.path("default"));
    stored->assign_add(1);
  }
  Checkpoint{*stored}.save(scratch.path("central"));
  Checkpoint{ordinary}.restore(scratch.path("central"));
  EXPECT_EQ(ordinary.value(), 2.5);
}

TEST(Checkpoint, KeepsValuesOfTheProgram) {
  const TemporaryFolder scratch;
  std::int64_t epoch = 12;
  std::vector<double> curve = {3, 2, 1};
  std::map<std::string, float> rates = {{"slow", 0.5F}, {"fast", 2.0F}};
  std::array<int, 2> pair = {4, 5};
  bool warm = true;
  const Checkpoint checkpoint{{"epoch", epoch}, {"curve", curve}, {"rates", rates}, {"pair", pair}, {"warm", warm}};
  checkpoint.save(scratch.path("saved"));
  epoch = 0;
  curve.clear();
  for (auto& [name, rate] : rates) rate = 0;
  pair = {};
  warm = false;
  checkpoint.restore(scratch.path("saved"));
  EXPECT_EQ(epoch, 12);
  EXPECT_THAT(curve, ElementsAre(3, 2, 1)) << "as long as it was";
  EXPECT_EQ(rates.at("fast"), 2.0F);
  EXPECT_THAT(pair, ElementsAre(4, 5));
  EXPECT_TRUE(warm);
}

TEST(Checkpoint, KeepsTuplesAndVectorsOfVariables) {
  const TemporaryFolder scratch;
  std::vector<Variable<double>> layers;
  for (const double value : {1.0, 2.0, 3.0}) layers.emplace_back(value);
  const std::tuple pair(Variable<int>(4), Variable<std::vector<float>>({5, 6}));
  const Checkpoint checkpoint{{"layers", layers}, {"pair", pair}};
  checkpoint.save(scratch.path("saved"));
  EXPECT_THAT(names_in(scratch.path("saved")),
              ElementsAre("index.json", "layers.0.npy", "layers.1.npy", "layers.2.npy", "pair.0.npy", "pair.1.npy"));
  for (const auto& layer : layers) layer.assign(0);
  checkpoint.restore(scratch.path("saved"));
  EXPECT_EQ(layers[2].value(), 3);
}

TEST(Checkpoint, IsRefusedInAReplicaAndInAnotherScope) {
  const TemporaryFolder scratch;
  MirroredStrategy strategy = mirrored(2);
  std::optional<Checkpoint> checkpoint;
  {
    const auto scope = strategy.scope();
    checkpoint.emplace(Checkpoint{Variable<double>(0)});
  }
  expect_error(ErrorCode::wrong_context, "Checkpoint::save: called in replica ",
               [&] { strategy.run([&] { checkpoint->save(scratch.path("saved")); }); });
  expect_error(ErrorCode::wrong_context, "Checkpoint::restore: called in replica ",
               [&] { strategy.run([&] { checkpoint->restore(scratch.path("saved")); }); });
  MirroredStrategy other = mirrored(1);
  const auto scope = other.scope();
  expect_error(ErrorCode::wrong_context, "and is called in the scope of another mirrored strategy",
               [&] { checkpoint->save(scratch.path("saved")); });
  EXPECT_FALSE(std::filesystem::exists(scratch.path("saved")));
}

TEST(Checkpoint, IsMadeOfWhatCanBeKeptTogether) {
  const Variable<double> v(0, {.name = "v"});
  const Variable<int> same_name(0, {.name = "v"});
  const std::vector<CheckpointEntry> nothing;
  const auto rejects = [](const std::string& text, const auto& make) {
    expect_error(ErrorCode::invalid_argument, text, make);
  };
  rejects("nothing to keep", [&] { Checkpoint{nothing}; });
  rejects("two entries are called \"v\"", [&] { Checkpoint{v, same_name}; });
  rejects("has no name", [&] { Checkpoint{{"", v}}; });
  const auto none = on_read(VariableAggregation::none, 1.0);
  rejects("no aggregation", [&] { Checkpoint{none}; });
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  rejects("\"v\" belongs to the default strategy and \"w\" to the mirrored", [&] {
    Checkpoint{v, {"w", Variable<int>(0)}};
  });
  rejects("Checkpoint::save: the step -1 is negative: give", [&] { Checkpoint{Variable<int>(0)}.save("nowhere", -1); });
}

}  // namespace
}  // namespace chorus::test
