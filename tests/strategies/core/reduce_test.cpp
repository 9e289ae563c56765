// SPDX-License-Identifier: Apache-2.0
#include "core/gathered_rows.hpp"
#include "core/replicas.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using Eigen::MatrixXf;
using testing::Each;
using testing::ElementsAre;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST_P(WithReplicas, Case40_NumbersByEveryOperation) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto values = per_replica(strategy, list_of(replicas(), [](int i) { return static_cast<float>(i + 1); }));
  const auto n = static_cast<float>(replicas());
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values), n * (n + 1) / 2);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values), (n + 1) / 2);
  EXPECT_EQ(strategy.reduce(ReduceOp::min, values), 1);
  EXPECT_EQ(strategy.reduce(ReduceOp::max, values), n);
  expect_error(ErrorCode::invalid_argument, "sum, average, min or max",
               [&] { std::ignore = strategy.reduce(ReduceOp::product, values); });
}

TEST_P(WithReplicas, Case41_OverReplicasAndAxes) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto four = [](int i) {
    const auto first = static_cast<float>(4 * i);
    return std::vector<float>{first, first + 1, first + 2, first + 3};
  };
  const auto values = per_replica(strategy, list_of(replicas(), four));
  const auto n = static_cast<float>(replicas());
  const auto sum = static_cast<float>(4 * sum_of_ids());
  EXPECT_THAT(strategy.reduce(ReduceOp::sum, values), ElementsAre(sum, sum + n, sum + 2 * n, sum + 3 * n));
  EXPECT_THAT(strategy.reduce(ReduceOp::average, values), ElementsAre(sum / n, sum / n + 1, sum / n + 2, sum / n + 3));
  EXPECT_THAT(strategy.reduce(ReduceOp::min, values), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), 4 * sum + 6 * n);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, 0), (4 * n - 1) / 2);
  EXPECT_EQ(strategy.reduce(ReduceOp::max, values, 0), 4 * n - 1);
  EXPECT_EQ(strategy.reduce(ReduceOp::min, values, 0), 0);
}

TEST_P(WithSeveralReplicas, Case43_AnEmptyReplicaIsNeutral) {
  MirroredStrategy strategy = mirrored(replicas());
  for (int empty = 0; empty < replicas(); ++empty) {
    const auto some_or_none = [&](int i) {
      return i == empty ? std::vector<float>{} : std::vector<float>{static_cast<float>(7 + i)};
    };
    const auto values = per_replica(strategy, list_of(replicas(), some_or_none));
    const auto sum = static_cast<float>(7 * last() + sum_of_ids() - empty);
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), sum);
    EXPECT_FLOAT_EQ(strategy.reduce(ReduceOp::average, values, 0), sum / static_cast<float>(last()));
    EXPECT_EQ(strategy.reduce(ReduceOp::max, values, 0),
              static_cast<float>(7 + (empty == last() ? last() - 1 : last())));
    EXPECT_EQ(strategy.reduce(ReduceOp::min, values, 0), empty == 0 ? 8 : 7);
  }
}

TEST_P(WithReplicas, Case44_NoElementsAtAll) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto values = strategy.run([] { return std::vector<float>(); });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), 0);
  EXPECT_TRUE(std::isnan(strategy.reduce(ReduceOp::average, values, 0)));
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    expect_error(ErrorCode::invalid_argument, std::string(name(op)) + " of none",
                 [&] { std::ignore = strategy.reduce(op, values, 0); });
  }
}

TEST_P(WithReplicas, Case46_SeveralAxes) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto filled = [](int i) { return MatrixXf(MatrixXf::Constant(2, 3, static_cast<float>(i + 1))); };
  const auto values = per_replica(strategy, list_of(replicas(), filled));
  const auto sum = static_cast<float>(replicas() + sum_of_ids());
  const auto mean = static_cast<float>(replicas() + 1) / 2;
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, {0, 1}), 6 * sum);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, {0, 1}), mean);
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 1), Eigen::Vector2f(3 * sum, 3 * sum));
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, -1), Eigen::Vector2f(mean, mean));
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values), MatrixXf::Constant(2, 3, mean));
}

TEST(Reduce, AnAxisOfEitherStorageOrder) {
  MirroredStrategy strategy = mirrored(1);
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  MatrixXf matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, per_replica<MatrixXf>(strategy, {matrix}), 0), Eigen::Vector3f(5, 7, 9));
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, per_replica<RowMajor>(strategy, {matrix}), 0), Eigen::Vector3f(5, 7, 9));
  EXPECT_EQ(strategy.reduce(ReduceOp::max, per_replica<RowMajor>(strategy, {matrix}), 1), Eigen::Vector2f(3, 6));
}

TEST_P(WithReplicas, Case47_WrongAxesAreRefused) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto values = strategy.run([] { return MatrixXf(MatrixXf::Ones(2, 3)); });
  for (const int axis : {2, -3}) {
    expect_error(ErrorCode::invalid_argument, " is none of a tensor of shape (2, 3)",
                 [&] { std::ignore = strategy.reduce(ReduceOp::average, values, axis); });
  }
  expect_error(ErrorCode::invalid_argument, "Strategy::reduce: the axes name dimension 0 twice: name each once", [&] {
    std::ignore = strategy.reduce(ReduceOp::sum, values, {0, -2});
  });
  const auto twice = 2 * static_cast<float>(replicas());
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, {0}), Eigen::Vector3f(twice, twice, twice)) << "a list of one";
}

template <class Axis>
concept TakesAxis = requires(Strategy& strategy, const PerReplica<MatrixXf>& values, Axis axis) {
  strategy.reduce(ReduceOp::sum, values, axis);
};
template <class Axis>
concept GathersAlong = requires(Strategy& strategy, const PerReplica<MatrixXf>& values, Axis axis) {
  strategy.gather(values, axis);
};

TEST(Reduce, Case47_AnAxisIsAWholeNumber) {
  static_assert(TakesAxis<int> && GathersAlong<int>);
  static_assert(!TakesAxis<double> && !TakesAxis<float> && !GathersAlong<double> && !GathersAlong<float>);
}

TEST_P(WithReplicas, Case49_WhatIsTheSameEverywhereHasThoseReductionsOnlyThatReplicasHave) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<int> v(5);
  expect_error(ErrorCode::invalid_argument,
               "Strategy::reduce: strategies do not reduce by product: give sum, average, min or max",
               [&] { std::ignore = strategy.reduce(ReduceOp::product, 5.0); });
  expect_error(ErrorCode::invalid_argument, "Strategy::reduce: the average of int32",
               [&] { std::ignore = strategy.reduce(ReduceOp::average, std::tuple(1.0, 5)); });
  expect_error(ErrorCode::invalid_argument, "the average of int32",
               [&] { std::ignore = strategy.reduce(ReduceOp::average, v); });
  EXPECT_EQ(strategy.reduce(ReduceOp::max, 5), 5);
}

TEST_P(WithReplicas, Case49_WhatIsTheSameEverywhere) {
  MirroredStrategy strategy = mirrored(replicas());
  EXPECT_EQ(strategy.reduce(ReduceOp::average, 5.0), 5.0);
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, 0.0), 0.0);
  if (replicas() == 1) {
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, 5.0), 5.0);
  } else {
    expect_error(ErrorCode::invalid_argument, "the same on all " + std::to_string(replicas()) + " replicas",
                 [&] { std::ignore = strategy.reduce(ReduceOp::sum, 5.0); });
  }
}

TEST_P(WithReplicas, Case52_AnAverageOfIntegersIsRefused) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto values = strategy.run([] { return std::vector<int>{id() + 1, id() + 2}; });
  expect_error(ErrorCode::invalid_argument, "is no integer",
               [&] { std::ignore = strategy.reduce(ReduceOp::average, values, 0); });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), 2 * sum_of_ids() + 3 * replicas());
}

TEST_P(WithReplicas, Case53_SquaresInBatches) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto squares_of = [](const std::vector<std::int64_t>& rows) {
    std::vector<std::int64_t> squares;
    for (const std::int64_t row : rows) squares.push_back(row * row);
    return squares;
  };
  const auto sum_of_squares = [&](const std::vector<std::int64_t>& rows) {
    const std::vector<std::int64_t> squares = squares_of(rows);
    return std::accumulate(squares.begin(), squares.end(), std::int64_t{0});
  };
  for (std::size_t batch = 1; batch <= 11; ++batch) {
    std::int64_t sum_of_sums = 0;
    std::int64_t sum_over_rows = 0;
    for (const auto& step : strategy.distribute_dataset(range(10).batch(batch))) {
      sum_of_sums += strategy.reduce(ReduceOp::sum, strategy.run(sum_of_squares, step.batches()));
      sum_over_rows += strategy.reduce(ReduceOp::sum, strategy.run(squares_of, step.batches()), 0);
    }
    EXPECT_EQ(sum_of_sums, 285) << "batches of " << batch;
    EXPECT_EQ(sum_over_rows, 285) << "batches of " << batch;
  }
}

TEST_P(WithReplicas, Case56_WhatIsNotANumberWins) {
  MirroredStrategy strategy = mirrored(replicas());
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    for (int where = 0; where < replicas(); ++where) {
      const auto values =
          per_replica(strategy, list_of(replicas(), [&](int i) { return i == where ? nan : static_cast<float>(i); }));
      EXPECT_TRUE(std::isnan(strategy.reduce(op, values)));
      const auto inside =
          strategy.run([op](float mine) { return get_replica_context()->all_reduce(op, mine); }, values);
      for (const float each : inside.values()) EXPECT_TRUE(std::isnan(each));
      const auto lists = strategy.run([](float mine) { return std::vector{1.0F, mine}; }, values);
      EXPECT_TRUE(std::isnan(strategy.reduce(op, lists, 0)));
    }
  }
}

TEST(Reduce, StructuresLeafByLeafAndShapesAsTheyMustBe) {
  MirroredStrategy strategy = mirrored(2);
  using Pair = std::tuple<float, std::vector<int>>;
  const auto sum = strategy.reduce(ReduceOp::sum, per_replica<Pair>(strategy, {{1, {1, 2}}, {2, {3, 4}}}));
  EXPECT_EQ(std::get<0>(sum), 3);
  EXPECT_THAT(std::get<1>(sum), ElementsAre(4, 6));
  expect_error(ErrorCode::invalid_argument, "replica 1 float32 of shape (1)", [&] {
    std::ignore = strategy.reduce(ReduceOp::sum, per_replica<std::vector<float>>(strategy, {{1, 2}, {3}}));
  });
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "ReplicaContext::all_reduce", [&] {
      std::ignore = strategy.reduce(ReduceOp::sum, per_replica<float>(strategy, {1, 2}));
    });
  });
}

TEST(Reduce, MessagesNameTheCallAndTheLeaf) {
  MirroredStrategy strategy = mirrored(2);
  using Pair = std::tuple<float, std::map<std::string, std::vector<int>>>;
  const auto values = per_replica<Pair>(strategy, {{1, {{"a", {1}}, {"b", {1}}}}, {2, {{"a", {1}}, {"b", {1, 2}}}}});
  const std::string differ =
      " of [1][b]: replica 0 has int32 elements of shape (1), replica 1 int32 of shape (2): only equal shapes";
  expect_error(ErrorCode::invalid_argument, "Strategy::reduce" + differ,
               [&] { std::ignore = strategy.reduce(ReduceOp::sum, values); });
  expect_error(ErrorCode::invalid_argument, "reduce_to" + differ,
               [&] { std::ignore = strategy.extended().reduce_to(ReduceOp::sum, values); });
  const auto equal = strategy.run([] { return Pair(1, {{"a", {1}}}); });
  expect_error(ErrorCode::invalid_argument, "batch_reduce_to of value 1[1][b]: replica 0 has", [&] {
    std::ignore = strategy.extended().batch_reduce_to(ReduceOp::sum, std::vector{equal, values});
  });
}

TEST_P(WithReplicas, Case58_AlongEitherAxis) {
  MirroredStrategy strategy = mirrored(replicas());
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int columns = replicas() + sum_of_ids();  // 1 of replica 0, 2 of the next, ...
  MatrixXf expected(2, columns);
  for (int column = 0; column < columns; ++column) {
    expected(0, column) = static_cast<float>(column);
    expected(1, column) = static_cast<float>(100 + column);
  }
  const auto own = [&](int i) { return MatrixXf(expected.middleCols(i * (i + 1) / 2, i + 1)); };
  const auto values = per_replica(strategy, list_of(replicas(), own));
  EXPECT_EQ(strategy.gather(values, 1), expected);
  EXPECT_EQ(strategy.gather(values, -1), expected);
  const auto in_rows = strategy.run([](const MatrixXf& mine) { return RowMajor(mine); }, values);
  EXPECT_EQ(strategy.gather(in_rows, 1), RowMajor(expected));
  const auto turned = strategy.run([](const MatrixXf& mine) { return MatrixXf(mine.transpose()); }, values);
  EXPECT_EQ(strategy.gather(turned, 0), MatrixXf(expected.transpose()));
  const auto inside =
      strategy.run([](const MatrixXf& mine) { return get_replica_context()->all_gather(mine, 1); }, values);
  for (const MatrixXf& each : inside.values()) EXPECT_EQ(each, expected);
}

TEST_P(WithSeveralReplicas, Case59_OtherDimensionsMustBeEqual) {
  MirroredStrategy strategy = mirrored(replicas());
  for (const int other : {0, last()}) {
    const auto values = strategy.run([&] { return MatrixXf(MatrixXf::Ones(1, id() == other ? 3 : 2)); });
    expect_error(ErrorCode::invalid_argument, "do not go together", [&] { std::ignore = strategy.gather(values, 0); });
  }
}

TEST(Gather, Case59_MessagesNameReplicasAndTheirShapes) {
  MirroredStrategy strategy = mirrored(4);
  const auto shapes = [](int number) { return MatrixXf(MatrixXf::Ones(1 + number, number == 2 ? 3 : 2)); };
  const auto values = per_replica<MatrixXf>(strategy, {shapes(0), shapes(1), shapes(2), shapes(3)});
  const std::string text =
      ": the tensors of replica 0, of shape (1, 2), and of replica 2, of shape (3, 3), do not go together";
  expect_error(ErrorCode::invalid_argument, "Strategy::gather" + text,
               [&] { std::ignore = strategy.gather(values, 0); });
  expect_error(ErrorCode::invalid_argument, "ReplicaContext::all_gather" + text, [&] {
    strategy.run([](const MatrixXf& mine) { return get_replica_context()->all_gather(mine, 0); }, values);
  });
}

TEST(Gather, Case59_SingleValuesHaveNoDimension) {
  static_assert(detail::every_leaf<detail::HasDimensions, std::tuple<std::vector<float>, MatrixXf>>());
  static_assert(!detail::every_leaf<detail::HasDimensions, float>(), "gather(scalars) does not compile");
  static_assert(!detail::every_leaf<detail::HasDimensions, std::tuple<std::vector<float>, double>>());
}

TEST_P(WithReplicas, Case61_WhatIsNotDistributedComesBack) {
  MirroredStrategy strategy = mirrored(replicas());
  EXPECT_THAT(strategy.gather(std::vector{1, 2}, 0), ElementsAre(1, 2));
  const auto twos = strategy.run([] { return std::vector{1, 2}; });
  EXPECT_EQ(strategy.gather(twos, 0).size(), 2 * static_cast<std::size_t>(replicas())) << "what is, does not";
}

TEST_P(WithReplicas, Case62_InTheReplicas) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto gathered = strategy.run(
      [] { return get_replica_context()->all_gather(std::vector<int>(static_cast<std::size_t>(id() + 1), id()), 0); });
  EXPECT_THAT(gathered.values(), Each(repeated<int>(numbers_below(replicas()))));
}

TEST_P(WithReplicas, Case64_NotInAReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto rows = strategy.run([] { return std::vector{id()}; });
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "ReplicaContext::all_gather",
                 [&] { std::ignore = strategy.gather(rows, 0); });
    expect_error(ErrorCode::wrong_context, "ReplicaContext::all_gather",
                 [&] { std::ignore = strategy.gather(std::vector{id()}, 0); });
  });
}

TEST(Reduce, WhatBelongsToAnotherStrategyIsRefused) {
  MirroredStrategy mine = mirrored(2);
  MirroredStrategy other = mirrored(3);
  const auto copies = other.extended().broadcast_to(1.0);
  expect_error(ErrorCode::invalid_argument,
               "Strategy::reduce: ", [&] { std::ignore = mine.reduce(ReduceOp::average, copies); });
  const auto scoped = [&] {
    const auto scope = other.scope();
    return Variable<double>(1.0);
  };
  const Variable<double> v = scoped();
  expect_error(ErrorCode::invalid_argument, "Strategy::reduce: called on the mirrored strategy with the variable",
               [&] { std::ignore = mine.reduce(ReduceOp::average, v); });
}

TEST_P(WithReplicas, Case50_AMirroredVariableIsItsOwnAverageAndHasNoSum) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> v(3.0);
  const auto copies = strategy.extended().broadcast_to(3.0);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, v), 3.0);
  EXPECT_EQ(strategy.reduce(ReduceOp::max, copies), 3.0);
  if (replicas() == 1) {
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, v), 3.0);
    return;
  }
  const std::string text = "the same on all " + std::to_string(replicas()) + " replicas";
  expect_error(ErrorCode::invalid_argument, text, [&] { std::ignore = strategy.reduce(ReduceOp::sum, v); });
  expect_error(ErrorCode::invalid_argument, text, [&] { std::ignore = strategy.reduce(ReduceOp::sum, copies); });
}

TEST(Reduce, Case85_OperationsOfAggregations) {
  EXPECT_EQ(reduce_op_of(VariableAggregation::sum), ReduceOp::sum);
  EXPECT_EQ(reduce_op_of(VariableAggregation::mean), ReduceOp::average);
  for (const auto none : {VariableAggregation::none, VariableAggregation::only_first_replica}) {
    expect_error(ErrorCode::invalid_argument, "the aggregation is neither sum nor mean",
                 [&] { std::ignore = reduce_op_of(none); });
  }
}

TEST(Gather, Case65_AxesFromTheLastAndMoreElementsThanAnIntCounts) {
  MirroredStrategy strategy = mirrored(2);
  using Matrix = Tensor<int, 2>;
  const auto columns = strategy.run([] {
    Matrix mine({2, 1});
    mine.data()[0] = id();
    mine.data()[1] = 10 + id();
    return mine;
  });
  const Matrix joined = strategy.gather(columns, -1);
  EXPECT_EQ(joined.shape(), (Shape{2, 2}));
  EXPECT_THAT(std::vector<int>(joined.data(), joined.data() + 4), ElementsAre(0, 1, 10, 11));
  expect_error(ErrorCode::invalid_argument, "axis -3", [&] { std::ignore = strategy.gather(columns, -3); });

  const long long free_bytes = sysconf(_SC_AVPHYS_PAGES) * static_cast<long long>(sysconf(_SC_PAGESIZE));
  if (free_bytes < (12LL << 30)) GTEST_SKIP() << "needs 5 GiB, and 12 GiB free";
  const std::size_t half = (std::size_t{1} << 30) + 1;
  auto halves = per_replica<std::vector<std::uint8_t>>(
      strategy, {std::vector<std::uint8_t>(half, 1), std::vector<std::uint8_t>(half, 2)});
  const std::vector<std::uint8_t> all = strategy.gather(halves, 0);
  ASSERT_EQ(all.size(), 2 * half);
  EXPECT_EQ(all[half - 1], 1);
  EXPECT_EQ(all[half], 2);
  EXPECT_EQ(all.back(), 2);
}

}  // namespace
}  // namespace chorus::test
