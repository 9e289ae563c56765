// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using Eigen::MatrixXf;
using testing::ElementsAre;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Reduce, Case40_NumbersByEveryOperation) {
  MirroredStrategy strategy = mirrored(4);
  const auto values = per_replica<float>(strategy, {1, 2, 3, 4});
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values), 10);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values), 2.5);
  EXPECT_EQ(strategy.reduce(ReduceOp::min, values), 1);
  EXPECT_EQ(strategy.reduce(ReduceOp::max, values), 4);
  expect_error(ErrorCode::invalid_argument, "sum, average, min or max",
               [&] { std::ignore = strategy.reduce(ReduceOp::product, values); });
}

TEST(Reduce, Case41_OverReplicasAndAxes) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<std::vector<float>>(strategy, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  EXPECT_THAT(strategy.reduce(ReduceOp::sum, values), ElementsAre(4, 6, 8, 10));
  EXPECT_THAT(strategy.reduce(ReduceOp::average, values), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(strategy.reduce(ReduceOp::min, values), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), 28);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, 0), 3.5);
  EXPECT_EQ(strategy.reduce(ReduceOp::max, values, 0), 7);
}

TEST(Reduce, Case43_AnEmptyReplicaIsNeutral) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<std::vector<float>>(strategy, {{7}, {}});
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), 7);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, 0), 7);
  EXPECT_EQ(strategy.reduce(ReduceOp::max, values, 0), 7);
  EXPECT_EQ(strategy.reduce(ReduceOp::min, values, 0), 7);
}

TEST(Reduce, Case44_NoElementsAtAll) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<std::vector<float>>(strategy, {{}, {}});
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), 0);
  EXPECT_TRUE(std::isnan(strategy.reduce(ReduceOp::average, values, 0)));
  expect_error(ErrorCode::invalid_argument, "min of none",
               [&] { std::ignore = strategy.reduce(ReduceOp::min, values, 0); });
}

TEST(Reduce, Case46_SeveralAxes) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<MatrixXf>(strategy, {MatrixXf::Ones(2, 3), MatrixXf::Constant(2, 3, 2)});
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, {0, 1}), 18);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, {0, 1}), 1.5);
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 1), Eigen::Vector2f(9, 9));
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, -1), Eigen::Vector2f(1.5, 1.5));
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values), MatrixXf::Constant(2, 3, 1.5));
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

TEST(Reduce, Case47_WrongAxesAreRefused) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<MatrixXf>(strategy, {MatrixXf::Ones(2, 3), MatrixXf::Ones(2, 3)});
  for (const int axis : {2, -3}) {
    expect_error(ErrorCode::invalid_argument, "is none of a tensor of shape (2, 3)",
                 [&] { std::ignore = strategy.reduce(ReduceOp::average, values, axis); });
  }
  expect_error(ErrorCode::invalid_argument, "named twice", [&] {
    std::ignore = strategy.reduce(ReduceOp::sum, values, {0, -2});
  });
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

TEST(Reduce, Case49_WhatIsTheSameEverywhereHasThoseReductionsOnlyThatReplicasHave) {
  for (const int replicas : {1, 2}) {
    MirroredStrategy strategy = mirrored(replicas);
    const auto scope = strategy.scope();
    const Variable<int> v(5);
    expect_error(ErrorCode::invalid_argument, "Strategy::reduce: strategies reduce by sum, average, min or max only",
                 [&] { std::ignore = strategy.reduce(ReduceOp::product, 5.0); });
    expect_error(ErrorCode::invalid_argument, "Strategy::reduce: the average of int32",
                 [&] { std::ignore = strategy.reduce(ReduceOp::average, std::tuple(1.0, 5)); });
    expect_error(ErrorCode::invalid_argument, "the average of int32",
                 [&] { std::ignore = strategy.reduce(ReduceOp::average, v); });
    EXPECT_EQ(strategy.reduce(ReduceOp::max, 5), 5);
  }
}

TEST(Reduce, Case49_WhatIsTheSameEverywhere) {
  MirroredStrategy strategy = mirrored(4);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, 5.0), 5.0);
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, 0.0), 0.0);
  expect_error(ErrorCode::invalid_argument, "the same on all 4 replicas",
               [&] { std::ignore = strategy.reduce(ReduceOp::sum, 5.0); });
  MirroredStrategy alone = mirrored(1);
  EXPECT_EQ(alone.reduce(ReduceOp::sum, 5.0), 5.0);
}

TEST(Reduce, Case52_AnAverageOfIntegersIsRefused) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<std::vector<int>>(strategy, {{1, 2}, {2, 3}});
  expect_error(ErrorCode::invalid_argument, "is no integer",
               [&] { std::ignore = strategy.reduce(ReduceOp::average, values, 0); });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values, 0), 8);
}

TEST_P(WithReplicas, Case53_SquaresInBatches) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto sums = strategy.run([&] {
    int sum = 0;
    for (int i = id(); i < 10; i += replicas()) sum += i * i;
    return sum;
  });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, sums), 285);
}

TEST(Reduce, Case56_WhatIsNotANumberWins) {
  MirroredStrategy strategy = mirrored(3);
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    for (std::size_t where = 0; where < 3; ++where) {
      std::vector<float> numbers{1, 2, 3};
      numbers[where] = nan;
      const auto values = per_replica<float>(strategy, numbers);
      EXPECT_TRUE(std::isnan(strategy.reduce(op, values)));
      const auto inside =
          strategy.run([op](float mine) { return get_replica_context()->all_reduce(op, mine); }, values);
      for (const float each : inside.values()) EXPECT_TRUE(std::isnan(each));
      const auto lists = per_replica<std::vector<float>>(strategy, {{numbers[0]}, {numbers[1]}, {numbers[2]}});
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

TEST(Gather, Case58_AlongEitherAxis) {
  MirroredStrategy strategy = mirrored(2);
  MatrixXf left(2, 1);
  left << 1, 2;
  MatrixXf right(2, 2);
  right << 3, 4, 5, 6;
  MatrixXf expected(2, 3);
  expected << 1, 3, 4, 2, 5, 6;
  const auto values = per_replica<MatrixXf>(strategy, {left, right});
  EXPECT_EQ(strategy.gather(values, 1), expected);
  EXPECT_EQ(strategy.gather(values, -1), expected);
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  EXPECT_EQ(strategy.gather(per_replica<RowMajor>(strategy, {left, right}), 1), RowMajor(expected));
}

TEST(Gather, Case59_OtherDimensionsMustBeEqual) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<MatrixXf>(strategy, {MatrixXf::Ones(1, 2), MatrixXf::Ones(1, 3)});
  expect_error(ErrorCode::invalid_argument, "do not go together", [&] { std::ignore = strategy.gather(values, 0); });
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

TEST(Gather, Case61_WhatIsNotDistributedComesBack) {
  MirroredStrategy strategy = mirrored(2);
  EXPECT_THAT(strategy.gather(std::vector{1, 2}, 0), ElementsAre(1, 2));
  MirroredStrategy alone = mirrored(1);
  EXPECT_THAT(alone.gather(per_replica<std::vector<int>>(alone, {{1, 2}}), 0), ElementsAre(1, 2));
}

TEST(Gather, Case62_InTheReplicas) {
  MirroredStrategy strategy = mirrored(3);
  const auto gathered = strategy.run(
      [] { return get_replica_context()->all_gather(std::vector<int>(static_cast<std::size_t>(id() + 1), id()), 0); });
  for (const auto& each : gathered.values()) EXPECT_THAT(each, ElementsAre(0, 1, 1, 2, 2, 2));
}

TEST(Gather, Case64_NotInAReplica) {
  MirroredStrategy strategy = mirrored(2);
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "ReplicaContext::all_gather", [&] {
      std::ignore = strategy.gather(per_replica<std::vector<int>>(strategy, {{1}, {2}}), 0);
    });
  });
}

TEST(Reduce, Case50_AMirroredVariableIsItsOwnAverageAndHasNoSum) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<double> v(3.0);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, v), 3.0);
  EXPECT_EQ(strategy.reduce(ReduceOp::max, strategy.extended().broadcast_to(3.0)), 3.0);
  expect_error(ErrorCode::invalid_argument, "the same on all 2 replicas",
               [&] { std::ignore = strategy.reduce(ReduceOp::sum, v); });
  expect_error(ErrorCode::invalid_argument, "the same on all 2 replicas",
               [&] { std::ignore = strategy.reduce(ReduceOp::sum, strategy.extended().broadcast_to(3.0)); });
}

TEST(Reduce, Case85_OperationsOfAggregations) {
  EXPECT_EQ(reduce_op_of(VariableAggregation::sum), ReduceOp::sum);
  EXPECT_EQ(reduce_op_of(VariableAggregation::mean), ReduceOp::average);
  for (const auto none : {VariableAggregation::none, VariableAggregation::only_first_replica}) {
    expect_error(ErrorCode::invalid_argument, "only the aggregations sum and mean",
                 [&] { std::ignore = reduce_op_of(none); });
  }
}

TEST(Reduce, Case209_NoElementsAndSmallTypes) {
  for (const int replicas : {1, 3}) {
    MirroredStrategy strategy = mirrored(replicas);
    const auto one = [&](auto value) {
      using T = decltype(value);
      const auto ones = strategy.run([value] { return std::vector<T>{value}; });
      const std::vector<T> sum = strategy.reduce(ReduceOp::sum, ones);
      EXPECT_EQ(static_cast<int>(static_cast<float>(sum[0])), replicas);
      const auto inside = strategy.run([value] { return get_replica_context()->all_reduce(ReduceOp::max, value); });
      EXPECT_EQ(static_cast<int>(static_cast<float>(inside[0])), 1);
      const auto none = strategy.run([] { return std::vector<T>(); });
      EXPECT_TRUE(strategy.reduce(ReduceOp::sum, none).empty());
      EXPECT_TRUE(strategy.gather(none, 0).empty());
      const auto none_inside =
          strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, std::vector<T>()); });
      EXPECT_TRUE(none_inside[0].empty());
    };
    one(std::int8_t{1});
    one(std::uint8_t{1});
    one(float16_t(1.0F));
    one(bfloat16_t(1.0F));
    one(std::int64_t{1});
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
