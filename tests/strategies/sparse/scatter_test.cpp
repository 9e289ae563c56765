// SPDX-License-Identifier: Apache-2.0
#include "sparse/slices.hpp"

#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using Aggregation = VariableAggregation;
using List = std::vector<float>;

Variable<List> variable_of(Strategy& strategy, Aggregation aggregation, List initial = {2, 1, 1}) {
  const auto scope = strategy.scope();
  return Variable<List>(std::move(initial), {.name = "v", .aggregation = aggregation});
}

ListSlices slices_of_three(std::vector<std::int64_t> indices, std::vector<float> values) {
  return list_slices(std::move(indices), std::move(values), 3);
}

TEST(Scatter, Case127_ProductsQuotientsAndTheLargest) {
  MirroredStrategy strategy = mirrored(2);
  const Variable<List> mean = variable_of(strategy, Aggregation::mean);
  strategy.run([&] { mean.scatter_mul(slices_of_three({id()}, {static_cast<float>(id() + 2)})); });
  EXPECT_THAT(mean.components(), Each(ElementsAre(2, 1.5F, 1)));

  using Integers = std::vector<int>;
  const auto scope = strategy.scope();
  const Variable<Integers> sum(Integers{1, 6, 1}, {.aggregation = Aggregation::sum});
  strategy.run([&] { sum.scatter_div({{id() + 2}, {id()}, {3}}); });
  EXPECT_THAT(sum.components(), Each(ElementsAre(0, 2, 1)));
  expect_error(ErrorCode::not_supported, "none and only_first_replica", [&] {
    strategy.run([&] { sum.scatter_max({{9}, {0}, {3}}); });
  });
}

TEST(Scatter, Case149_RowsOfOneIndexAllCount) {
  MirroredStrategy strategy = mirrored(2);
  const Variable<List> v = variable_of(strategy, Aggregation::none, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  v.scatter_add(list_slices({0, 0, 9}, {1, 1, 1}));
  EXPECT_THAT(v.components(), Each(ElementsAre(2, 1, 2, 3, 4, 5, 6, 7, 8, 10)));
}

TEST(Scatter, FromOutsideEveryComponentIsChanged) {
  MirroredStrategy strategy = mirrored(3);
  for (const Aggregation aggregation : {Aggregation::none, Aggregation::only_first_replica}) {
    const Variable<List> v = variable_of(strategy, aggregation, {2, 4, 6});
    v.scatter_sub(slices_of_three({2, 0}, {1, 5}));
    EXPECT_THAT(v.components(), Each(ElementsAre(-3, 4, 5)));
    v.scatter_mul(slices_of_three({1, 1}, {2, 3}));
    EXPECT_THAT(v.components(), Each(ElementsAre(-3, 24, 5)));
    v.scatter_div(slices_of_three({1}, {8}));
    EXPECT_THAT(v.components(), Each(ElementsAre(-3, 3, 5)));
    v.scatter_min(slices_of_three({0, 2}, {7, -2}));
    EXPECT_THAT(v.components(), Each(ElementsAre(-3, 3, -2)));
    v.scatter_max(slices_of_three({0, 1}, {7, -2}));
    EXPECT_THAT(v.components(), Each(ElementsAre(7, 3, -2)));
    v.scatter_update(slices_of_three({1, 1}, {8, 9}));
    EXPECT_THAT(v.components(), Each(ElementsAre(7, 9, -2))) << "the last of one index stays";
  }
}

class ScatterInReplicas : public WithReplicas {};

TEST_P(ScatterInReplicas, InReplicasTheRowsOfAllAreAggregated) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto n = static_cast<float>(replicas());
  const auto changed = [&](Aggregation aggregation, const auto& change) {
    const Variable<List> v = variable_of(strategy, aggregation, {10, 10, 10});
    strategy.run([&] { change(v, slices_of_three({0, id() == 0 ? 1 : 2}, {static_cast<float>(id() + 1), 1})); });
    for (const List& each : v.components()) EXPECT_EQ(each, v.components().front());
    return v.components().front();
  };
  const auto add = [](const auto& v, const ListSlices& slices) { v.scatter_add(slices); };
  const auto sub = [](const auto& v, const ListSlices& slices) { v.scatter_sub(slices); };
  const auto mul = [](const auto& v, const ListSlices& slices) { v.scatter_mul(slices); };
  const auto update = [](const auto& v, const ListSlices& slices) { v.scatter_update(slices); };
  const float all = n * (n + 1) / 2;
  EXPECT_THAT(changed(Aggregation::sum, add), ElementsAre(10 + all, 11, 9 + n));
  EXPECT_THAT(changed(Aggregation::sum, sub), ElementsAre(10 - all, 9, 11 - n));
  EXPECT_THAT(changed(Aggregation::mean, sub), ElementsAre(10 - all / n, 10 - 1 / n, 10 - (n - 1) / n));
  EXPECT_THAT(changed(Aggregation::sum, mul), ElementsAre(10 * factorial(replicas()), 10, 10));
  EXPECT_THAT(changed(Aggregation::only_first_replica, add), ElementsAre(11, 11, 10));
  EXPECT_THAT(changed(Aggregation::only_first_replica, update), ElementsAre(1, 1, 10));
}

INSTANTIATE_TEST_SUITE_P(Replicas, ScatterInReplicas, testing::Values(1, 2, 3, 4, 8));

TEST(Scatter, WithoutAnAggregationReplicasCannotWrite) {
  MirroredStrategy strategy = mirrored(2);
  const Variable<List> v = variable_of(strategy, Aggregation::none);
  expect_error(ErrorCode::wrong_context, "no aggregation",
               [&] { strategy.run([&] { v.scatter_update(slices_of_three({0}, {1})); }); });
  EXPECT_THAT(v.components(), Each(ElementsAre(2, 1, 1)));
  MirroredStrategy alone = mirrored(1);
  const Variable<List> own = variable_of(alone, Aggregation::none);
  alone.run([&] { own.scatter_update(slices_of_three({0}, {7})); });
  EXPECT_THAT(own.components(), Each(ElementsAre(7, 1, 1)));
}

TEST(Scatter, WhatIsNeitherSumNorMeanIsRefusedEverywhere) {
  MirroredStrategy strategy = mirrored(2);
  for (const Aggregation aggregation : {Aggregation::sum, Aggregation::mean}) {
    const Variable<List> v = variable_of(strategy, aggregation);
    for (const auto how :
         {&Variable<List>::scatter_min, &Variable<List>::scatter_max, &Variable<List>::scatter_update}) {
      const auto scatter = [&] { (v.*how)(slices_of_three({0}, {1})); };
      expect_error(ErrorCode::not_supported, "only_first_replica", scatter);
      expect_error(ErrorCode::not_supported, "only_first_replica", [&] { strategy.run(scatter); });
    }
  }
  const auto scope = strategy.scope();
  const Variable<List> on_read(List{1, 2, 3},
                               {.synchronization = VariableSynchronization::on_read, .aggregation = Aggregation::sum});
  const auto scatter = [&] { on_read.scatter_add(slices_of_three({0}, {1})); };
  expect_error(ErrorCode::not_supported, "synchronised on read", scatter);
  expect_error(ErrorCode::not_supported, "synchronised on read", [&] { strategy.run(scatter); });
}

TEST(Scatter, InAnUpdateOneComponentIsChanged) {
  MirroredStrategy strategy = mirrored(2);
  const Variable<List> v = variable_of(strategy, Aggregation::sum);
  const auto scope = strategy.scope();
  strategy.extended().update(
      v, [&](List& /*component*/, const ListSlices& slices) { v.scatter_add(slices); },
      per_replica<ListSlices>(strategy, {slices_of_three({0}, {1}), slices_of_three({2}, {5})}));
  EXPECT_THAT(v.components(), ElementsAre(ElementsAre(3, 1, 1), ElementsAre(2, 1, 6)));
}

TEST(Scatter, WrongSlicesAreToldWithTheVariableAndTheReplica) {
  MirroredStrategy strategy = mirrored(2);
  const Variable<List> v = variable_of(strategy, Aggregation::sum);
  expect_error(
      ErrorCode::invalid_argument,
      "Variable::scatter_sub of \"v\": slices with the index 3 (number 1 of them) of a tensor of 3 rows: give indices "
      "from 0 to 2",
      [&] {
        v.scatter_sub(slices_of_three({0, 3}, {1, 1}));
      });
  expect_error(ErrorCode::invalid_argument, "Variable::scatter_add of \"v\" in replica 1: slices with the index -2",
               [&] { strategy.run([&] { v.scatter_add(slices_of_three({-2 * id()}, {1})); }); });
  expect_error(ErrorCode::invalid_argument, "slices of a tensor of shape (10) for a variable of shape (3)",
               [&] { v.scatter_add(list_slices({0}, {1})); });
  const auto scope = strategy.scope();
  const Variable<Table> table(Table({4, 2}), {.name = "table"});
  expect_error(ErrorCode::invalid_argument, "Variable::scatter_add of \"table\": slices with values of shape (1, 3)",
               [&] {
                 table.scatter_add({Table({1, 3}), {0}, {4, 2}});
               });
  EXPECT_THAT(v.components(), Each(ElementsAre(2, 1, 1)));
}

TEST(Scatter, IntegersAreNotDividedByZero) {
  using Integers = std::vector<int>;
  constexpr int least = std::numeric_limits<int>::min();
  const Variable<Integers> v(Integers{least, 7, 1});
  expect_error(ErrorCode::invalid_argument, "by 0", [&] { v.scatter_div({{2, 0}, {1, 2}, {3}}); });
  EXPECT_THAT(v.value(), ElementsAre(least, 7, 1));
  v.scatter_div({{-1, -2}, {0, 1}, {3}});
  EXPECT_THAT(v.value(), ElementsAre(least, -3, 1)) << "wraps around";
}

TEST(Scatter, WhatIsNotANumberWins) {
  const Variable<List> v(List{1, 2, 3});
  v.scatter_min(slices_of_three({0}, {std::nanf("")}));
  v.scatter_max(slices_of_three({1}, {std::nanf("")}));
  EXPECT_TRUE(std::isnan(v.value()[0]) && std::isnan(v.value()[1]));
  v.scatter_max(slices_of_three({0}, {5}));
  EXPECT_TRUE(std::isnan(v.value()[0]));
}

TEST(Scatter, CentralStorageIsChangedOnce) {
  CentralStorageStrategy strategy(some_devices(3));
  const Variable<List> v = variable_of(strategy, Aggregation::sum);
  const auto seen = strategy.run([&] {
    v.scatter_add(slices_of_three({id()}, {1}));
    return v.value();
  });
  EXPECT_THAT(seen.values(), Each(ElementsAre(3, 2, 2)));
  EXPECT_EQ(v.components().size(), 1U);
}

TEST(Scatter, BelongsToOneStrategy) {
  MirroredStrategy mine = mirrored(2);
  MirroredStrategy other = mirrored(2);
  const Variable<List> v = variable_of(mine, Aggregation::sum);
  const auto scope = other.scope();
  expect_error(ErrorCode::wrong_context, "belongs to", [&] { v.scatter_add(slices_of_three({0}, {1})); });
}

}  // namespace
}  // namespace chorus::test
