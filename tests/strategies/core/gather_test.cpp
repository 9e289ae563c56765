// SPDX-License-Identifier: Apache-2.0
// Structures of tensors gathered leaf by leaf.
#include "core/gathered_rows.hpp"
#include "core/replicas.hpp"

#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/indexed_slices.hpp>
#include <chorus/strategies/variable.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

class GatherStructures : public WithReplicas {};
INSTANTIATE_TEST_SUITE_P(Every, GatherStructures, testing::Values(1, 2, 3, 4, 8));

TEST_P(GatherStructures, Case62_EachLeafIsGathered) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto rows = strategy.run([] { return nested_rows({id()}); });
  const Nested expected = nested_rows(numbers_below(replicas()));
  EXPECT_EQ(strategy.gather(rows, 0), expected);
  const auto inside = strategy.run([](const Nested& mine) { return get_replica_context()->all_gather(mine, 0); }, rows);
  for (const Nested& each : inside.values()) EXPECT_EQ(each, expected);
}

TEST_P(GatherStructures, AxesAreCountedFromTheLastOfEachLeaf) {
  MirroredStrategy strategy = mirrored(replicas());
  using Leaves = std::tuple<std::vector<int>, Tensor<int, 2>, std::vector<int>>;
  const auto gathered = strategy.run([] {
    return get_replica_context()->all_gather(Leaves{{id()}, Tensor<int, 2>({2, 1}, {id(), 10 + id()}), {id()}}, -1);
  });
  const std::vector<int> ids = numbers_below(replicas());
  for (const auto& [first, columns, last] : gathered.values()) {
    EXPECT_EQ(first, ids);
    ASSERT_EQ(columns.shape(), (Shape{2, static_cast<std::size_t>(replicas())}));
    for (const int i : ids) EXPECT_EQ(std::tuple(columns(0, i), columns(1, i)), std::tuple(i, 10 + i));
    EXPECT_EQ(last, ids);
  }
}

/// tf.distribute.Strategy.experimental_local_results of a structure.
TEST_P(GatherStructures, StructuresOfDistributedValuesAreThoseOfTheReplicas) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto rows = strategy.run([] { return std::vector<int>(1, id()); });
  const std::map<std::string, PerReplica<std::vector<int>>> named{{"a", rows}};
  const std::tuple both(rows, std::vector{named});
  const auto local = strategy.local_results(both);
  ASSERT_EQ(local.size(), static_cast<std::size_t>(replicas()));
  for (const int i : numbers_below(replicas())) {
    const auto& [first, list] = local[static_cast<std::size_t>(i)];
    EXPECT_EQ(first, std::vector{i});
    EXPECT_EQ(list.at(0).at("a"), std::vector{i});
  }
  const std::vector<int> ids = numbers_below(replicas());
  const auto [first, list] = strategy.gather(both, 0);
  EXPECT_EQ(first, ids);
  EXPECT_EQ(list.at(0).at("a"), ids);
  const int sum = replicas() * (replicas() - 1) / 2;
  EXPECT_EQ(std::get<0>(strategy.reduce(ReduceOp::sum, both)), std::vector{sum});
  MirroredStrategy more = mirrored(replicas() + 1);
  const std::string text = ": " + std::to_string(replicas()) + " components of " + std::to_string(replicas() + 1);
  expect_error(ErrorCode::invalid_argument, "Strategy::local_results" + text,
               [&] { std::ignore = more.local_results(both); });
  expect_error(ErrorCode::invalid_argument, "Strategy::gather" + text, [&] { std::ignore = more.gather(both, 0); });
  expect_error(ErrorCode::invalid_argument, "Strategy::reduce" + text,
               [&] { std::ignore = more.reduce(ReduceOp::max, named); });
}

TEST_P(GatherStructures, MapsOfAnyOrderKeepTheirKeys) {
  MirroredStrategy strategy = mirrored(replicas());
  const std::vector<int> ids = numbers_below(replicas());
  using Falling = std::map<int, std::vector<int>, std::greater<>>;
  const auto falling = strategy.run([] { return Falling{{1, {id()}}, {2, {}}}; });
  const Falling expected{{1, ids}, {2, {}}};
  EXPECT_EQ(strategy.gather(falling, 0), expected);
  const auto inside = strategy.run([](const Falling& mine) { return get_replica_context()->all_gather(mine, 0); },
                                   std::map<int, PerReplica<Falling>, std::greater<>>{{3, falling}}.at(3));
  EXPECT_THAT(inside.values(), testing::Each(expected));

  // An order that its type does not tell.
  using Chosen = bool (*)(int, int);
  using Rows = PerReplica<std::vector<int>>;
  std::map<int, Rows, Chosen> rows([](int left, int right) { return left > right; });
  for (const int key : {1, 2}) rows.emplace(key, strategy.run([key] { return std::vector<int>(1, key * id()); }));
  const std::map<int, std::vector<int>, Chosen> gathered = strategy.gather(rows, 0);
  EXPECT_EQ(gathered.begin()->first, 2);
  EXPECT_EQ(gathered.at(1), ids);
}

TEST_P(GatherStructures, ArraysAndPairsOfDistributedValuesKeepTheirKind) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto rows = strategy.run([] { return std::vector<int>(1, id()); });
  const std::pair both(std::array{rows, rows}, 5);
  using Local = std::pair<std::array<std::vector<int>, 2>, int>;
  const std::vector<Local> local = strategy.local_results(both);
  ASSERT_EQ(local.size(), static_cast<std::size_t>(replicas()));
  const std::vector<int> mine = {replicas() - 1};
  EXPECT_EQ(local.back(), Local({mine, mine}, 5));
  const auto given = strategy.run([](const Local& part) { return part.first[1].at(0); }, both);
  EXPECT_EQ(strategy.local_results(given), numbers_below(replicas()));
  EXPECT_EQ(strategy.gather(both.first, 0)[1], numbers_below(replicas()));
}

TEST(Gather, MessagesNameTheLeaf) {
  MirroredStrategy strategy = mirrored(2);
  using Map = std::map<std::string, Tensor<float, 2>>;
  const auto unequal = strategy.run([] {
    return Map{{"a", Tensor<float, 2>({1, 2})}, {"b", Tensor<float, 2>({1, static_cast<std::size_t>(2 + id())})}};
  });
  expect_error(ErrorCode::invalid_argument, "Strategy::gather of [b]: the tensors of replica 0, of shape (1, 2)",
               [&] { std::ignore = strategy.gather(unequal, 0); });
  const auto flat = strategy.run([] { return std::tuple(Tensor<float, 2>({1, 1}), std::vector<float>(1)); });
  expect_error(ErrorCode::invalid_argument, "Strategy::gather of [1]: axis 1 is none",
               [&] { std::ignore = strategy.gather(flat, 1); });
  expect_error(ErrorCode::invalid_argument, "Strategy::gather: axis 1 is none",
               [&] { std::ignore = strategy.gather(strategy.run([] { return std::vector<float>(1); }), 1); });
  EXPECT_EQ(strategy.gather(strategy.run([] { return std::tuple(std::vector(1, id())); }), 0),
            std::tuple(std::vector{0, 1}))
      << "works again";
}

TEST_P(WithSeveralReplicas, GatheredStructuresThatDifferAreRefused) {
  MirroredStrategy strategy = mirrored(replicas());
  const std::string only = "only replica " + std::to_string(last()) + " has ";
  using Lists = std::vector<std::vector<int>>;
  using Tuples = std::vector<std::tuple<std::vector<int>>>;
  const auto values = per_replica(strategy, list_of(replicas(), [](int i) { return Tuples(i == last() ? 2 : 1); }));
  expect_error(ErrorCode::mismatch, only + "[1][0]", [&] { std::ignore = strategy.gather(values, 0); });
  std::atomic<int> thrown = 0;
  const auto all_gather = [&] {
    try {
      std::ignore = get_replica_context()->all_gather(Lists(id() == last() ? 2 : 1), 0);
    } catch (...) {
      ++thrown;
      throw;
    }
  };
  expect_error(ErrorCode::mismatch, only + "[1]", [&] { strategy.run(all_gather); });
  EXPECT_EQ(thrown, replicas());
}

TEST_P(GatherStructures, StructuresWithoutLeavesStayEmpty) {
  MirroredStrategy strategy = mirrored(replicas());
  using Lists = std::vector<std::vector<int>>;
  EXPECT_EQ(strategy.gather(strategy.run([] { return Lists(); }), 0), Lists());
  EXPECT_EQ(strategy.gather(strategy.run([] { return Lists(2); }), 0), Lists(2));
}

TEST_P(GatherStructures, MirroredValuesAndVariablesAreGatheredFromEachReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const std::vector<int> copies(static_cast<std::size_t>(replicas()), 5);
  EXPECT_EQ(strategy.gather(strategy.extended().broadcast_to(std::vector<int>{5}), 0), copies);
  const auto scoped = [&](VariableSynchronization synchronization) {
    const auto scope = strategy.scope();
    return Variable<std::vector<int>>(std::vector<int>{5}, {.synchronization = synchronization});
  };
  EXPECT_EQ(strategy.gather(scoped(VariableSynchronization::on_write), 0), copies);
  const auto own = scoped(VariableSynchronization::on_read);
  strategy.run([&] { own.assign({id()}); });
  EXPECT_EQ(strategy.gather(own, 0), numbers_below(replicas()));
  MirroredStrategy other = mirrored(2);
  expect_error(ErrorCode::invalid_argument, "Strategy::gather: called on the mirrored strategy with the variable",
               [&] { std::ignore = other.gather(own, 0); });
}

TEST(Gather, OfOneReplicaIsWhatItBrings) {
  const auto rows = DefaultStrategy::instance().run([] { return nested_rows({2}); });
  EXPECT_EQ(DefaultStrategy::instance().gather(rows, 0), nested_rows({2}));
}

TEST_P(GatherStructures, Case61_AStructureThatIsNotDistributedComesBack) {
  MirroredStrategy strategy = mirrored(replicas());
  EXPECT_EQ(strategy.gather(nested_rows({2}), 0), nested_rows({2}));
}

TEST_P(GatherStructures, Case64_SlicesInAStructureAreNotGathered) {
  MirroredStrategy strategy = mirrored(replicas());
  using Slices = IndexedSlices<std::vector<float>>;
  const auto values = strategy.run([] { return std::tuple(std::vector<float>(1), Slices({1}, {0}, {4})); });
  expect_error(ErrorCode::not_supported, "to_dense", [&] { std::ignore = strategy.gather(values, 0); });
}

}  // namespace
}  // namespace chorus::test
