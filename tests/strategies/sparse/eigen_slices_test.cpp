// SPDX-License-Identifier: Apache-2.0
// Slices of tensors whose rows do not lie together, as their first dimension changes fastest in memory.
#include "sparse/slices.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/variable.hpp>

#include <type_traits>
#include <vector>

namespace chorus::test {
namespace {

using Eigen::MatrixXf;
using MatrixSlices = IndexedSlices<MatrixXf>;

MatrixXf matrix_of(const Table& table) {
  MatrixXf matrix(table.shape()[0], table.shape()[1]);
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index k = 0; k < matrix.cols(); ++k) matrix(i, k) = table(i, k);
  }
  return matrix;
}

TEST(EigenSlices, AddUpAsThoseOfRows) {
  MirroredStrategy strategy = mirrored(3);
  for (const double density : {0.1, 2.0}) {
    const std::vector<TableSlices> tables = drawn({.density = density}, 3);
    std::vector<MatrixSlices> matrices;
    for (const TableSlices& each : tables)
      matrices.emplace_back(matrix_of(each.values), each.indices, each.dense_shape);
    const MatrixSlices sum = strategy.reduce(ReduceOp::sum, per_replica(strategy, matrices));
    const TableSlices expected = summed(tables);
    EXPECT_EQ(sum.indices, expected.indices);
    EXPECT_EQ(sum.values, matrix_of(expected.values));
    EXPECT_EQ(to_dense(sum), matrix_of(to_dense(expected)));
  }
}

TEST(EigenSlices, ChangeRowsOfAMatrix) {
  const Variable<Eigen::Matrix<float, 3, 2>> v(Eigen::Matrix<float, 3, 2>::Ones());
  MatrixXf rows(2, 2);
  rows << 1, 2, 3, 4;
  v.scatter_add({rows, {2, 0}, {3, 2}});
  Eigen::Matrix<float, 3, 2> expected;
  expected << 4, 5, 1, 1, 2, 3;
  EXPECT_EQ(v.value(), expected);
}

TEST(EigenSlices, ThreeDimensions) {
  MirroredStrategy strategy = mirrored(2);
  using Cube = Eigen::Tensor<float, 3>;
  Cube values(1, 2, 3);
  for (int i = 0; i < 6; ++i) values(0, i / 3, i % 3) = static_cast<float>(i);
  const IndexedSlices<Cube> slices(values, {4}, {5, 2, 3});
  const auto sum = strategy.reduce(ReduceOp::sum, per_replica<IndexedSlices<Cube>>(strategy, {slices, slices}));
  ASSERT_THAT(sum.indices, testing::ElementsAre(4));
  const Cube dense = to_dense(sum);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(dense(4, i / 3, i % 3), static_cast<float>(2 * i));
}

}  // namespace
}  // namespace chorus::test
