// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <cmath>
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

}  // namespace
}  // namespace chorus::test
