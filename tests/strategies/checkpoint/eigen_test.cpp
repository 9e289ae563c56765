// SPDX-License-Identifier: Apache-2.0
// Matrices by columns, as Eigen stores them, and by rows are the same ones in a checkpoint.
#include "strategies/checkpoint/folder.hpp"
#include "strategies/core/replicas.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/checkpoint.hpp>
#include <chorus/strategies/npy.hpp>

#include <Eigen/Core>

namespace chorus::test {
namespace {

TEST(Checkpoint, OrdersOfStorageAreTurnedIntoEachOther) {
  const TemporaryFolder scratch;
  Eigen::MatrixXd matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  Eigen::Tensor<float, 3> tensor(2, 3, 2);
  for (int i = 0; i < 12; ++i) tensor(i / 6, i / 2 % 3, i % 2) = static_cast<float>(i);
  const Eigen::RowVector2d row(7, 8);
  const std::tuple by_columns(Variable<Eigen::MatrixXd>{matrix}, Variable<Eigen::Tensor<float, 3>>{tensor},
                              Variable<Eigen::RowVector2d>{row});
  const std::tuple by_rows(Variable<Tensor<double, 2>>(Tensor<double, 2>({2, 3})),
                           Variable<Tensor<float, 3>>(Tensor<float, 3>({2, 3, 2})),
                           Variable<std::vector<double>>({0, 0}));
  Checkpoint{{"all", by_columns}}.save(scratch.path("columns"));
  Checkpoint{{"all", by_rows}}.restore(scratch.path("columns"));
  EXPECT_EQ(std::get<0>(by_rows).value(), (Tensor<double, 2>({2, 3}, {1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(std::get<1>(by_rows).value(), (Tensor<float, 3>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})));
  EXPECT_THAT(std::get<2>(by_rows).value(), testing::ElementsAre(7, 8));

  Checkpoint{{"all", by_rows}}.save(scratch.path("rows"));
  std::get<0>(by_columns).assign(Eigen::MatrixXd::Zero(2, 3));
  std::get<1>(by_columns).assign(Eigen::Tensor<float, 3>(tensor.constant(0)));
  Checkpoint{{"all", by_columns}}.restore(scratch.path("rows"));
  EXPECT_EQ(std::get<0>(by_columns).value(), matrix);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(std::get<1>(by_columns).value()(i / 6, i / 2 % 3, i % 2), i);
  EXPECT_EQ((read_npy<double, 2>(scratch.path("columns/all.0.npy"))), std::get<0>(by_rows).value());
}

}  // namespace
}  // namespace chorus::test
