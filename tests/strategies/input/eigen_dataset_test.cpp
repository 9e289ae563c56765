// SPDX-License-Identifier: Apache-2.0
// Eigen's tensors in datasets: where neighbours of a row lie apart in memory.
#include "strategies/input/collect.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/dataset.hpp>

#include <gtest/gtest.h>
#include <Eigen/Core>
#include <tuple>
#include <unsupported/Eigen/CXX11/Tensor>
#include <vector>

namespace chorus {
namespace {

using test::collect;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Digits {
  Eigen::MatrixXf images;
  Eigen::VectorXi labels;
};
static_assert(BatchStructure<Digits> && !BatchStructure<Eigen::Matrix3f>);
static_assert(std::same_as<decltype(make_array_dataset(Eigen::MatrixXf()).batch(1)), Dataset<Eigen::MatrixXf>>);

Eigen::MatrixXf counted(Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXf matrix(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) matrix(i, j) = static_cast<float>(100 * i + j);
  }
  return matrix;
}

TEST(EigenDataset, GathersRowsOfColumnMajorMatrices) {
  const Digits digits{counted(10, 4), Eigen::VectorXi::LinSpaced(10, 0, 9)};
  int rows = 0;
  for (const Digits& batch : make_array_dataset(digits).shuffle(10, 4).batch(3)) {
    for (Eigen::Index row = 0; row < batch.images.rows(); ++row, ++rows) {
      EXPECT_EQ(batch.images.row(row), digits.images.row(batch.labels(row)));
    }
  }
  EXPECT_EQ(rows, 10);
}

TEST(EigenDataset, RowsAreVectorsAndStackToRowMajorMatrices) {
  const auto rows = make_array_dataset(counted(5, 3), Eigen::VectorXd(Eigen::VectorXd::Ones(5)));
  const auto vectors = rows.map([](const std::tuple<Eigen::VectorXf, double>& row) { return std::get<0>(row); });
  const Dataset<RowMatrix> batches = vectors.batch(2);
  const auto all = collect(batches);
  EXPECT_EQ(all[1], counted(5, 3).middleRows(2, 2));
}

TEST(EigenDataset, ArraysAreBatchedAsMatricesAre) {
  const Dataset<Eigen::ArrayXXf> whole = make_array_dataset(Eigen::ArrayXXf(counted(5, 3).array())).batch(2);
  EXPECT_EQ(collect(whole)[2].matrix(), counted(5, 3).bottomRows(1));
  const auto rows = make_array_dataset(Eigen::ArrayXXf(counted(5, 3).array()));
  using RowArray = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Dataset<RowArray> stacked = rows.map([](const Eigen::ArrayXf& row) { return row; }).batch(2);
  EXPECT_EQ(collect(stacked)[1].matrix(), counted(5, 3).middleRows(2, 2));
}

TEST(EigenDataset, GathersTensorsOfEitherOrder) {
  Eigen::Tensor<double, 3> columns(4, 2, 3);
  Eigen::Tensor<double, 3, Eigen::RowMajor> rows(4, 2, 3);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 3; ++k) columns(i, j, k) = rows(i, j, k) = 100 * i + 10 * j + k;
    }
  }
  for (const auto& [a, b] : make_array_dataset(columns, rows).shuffle(4, 8).batch(3)) {
    for (int i = 0; i < a.dimension(0); ++i) {
      for (int j = 0; j < 2; ++j) {
        for (int k = 0; k < 3; ++k) EXPECT_EQ(a(i, j, k), b(i, j, k));
      }
    }
  }
  const auto stacked = collect(make_array_dataset(columns).map([](const auto& row) { return row; }).batch(4));
  EXPECT_EQ(stacked[0](3, 1, 2), 312);
  Tensor<double, 3> own({4, 2, 3});
  detail::gather_rows(tensor_ref(columns), detail::numbers(0, 4), tensor_ref(own), 0);
  EXPECT_EQ(own(2, 1, 1), 211);
  Eigen::Tensor<double, 3> first(1, 2, 3);
  detail::gather_rows(tensor_ref(own), detail::numbers(3, 1), tensor_ref(first), 0);
  EXPECT_EQ(first(0, 1, 2), 312);
}

}  // namespace
}  // namespace chorus
