// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/strategy.hpp>

#include <Eigen/Core>
#include <utility>

namespace chorus::test {
namespace {

TEST_P(WithReplicas, EigensArraysAreReducedAndGathered) {
  MirroredStrategy strategy = mirrored(replicas());
  using Rows = Eigen::Array<float, Eigen::Dynamic, 2, Eigen::RowMajor>;
  const auto values = strategy.run(
      [] { return std::pair(Eigen::ArrayXd(Eigen::ArrayXd::Constant(3, id())), Rows(Rows::Constant(1, 2, 2))); });
  const auto sums = strategy.reduce(ReduceOp::sum, values);
  EXPECT_TRUE((sums.first == sum_of_ids()).all());
  EXPECT_EQ(sums.second(0, 1), 2 * replicas());
  const Eigen::ArrayXXd both = Eigen::ArrayXXd::Constant(1, 2, 3);
  EXPECT_EQ(strategy.reduce(ReduceOp::average, strategy.run([&] { return both; }), 1)(0), 3);
  const auto [numbers, rows] = strategy.gather(values, 0);
  EXPECT_EQ(numbers(numbers.size() - 1), last());
  EXPECT_EQ(rows.rows(), replicas());
}

}  // namespace
}  // namespace chorus::test
