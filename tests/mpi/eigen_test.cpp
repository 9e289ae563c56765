// SPDX-License-Identifier: Apache-2.0
// Eigen objects as arguments: what is passed, what is refused, and what must not compile.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/eigen.hpp>
#include <chorus/interop/eigen_tensor.hpp>

#include <gtest/gtest.h>
#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>

#include <complex>
#include <span>
#include <string>
#include <utility>

namespace chorus::test {
namespace {

using Eigen::ArrayXXd;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Tensor3 = Eigen::Tensor<double, 3>;

/// Yields T, or a type with another meaning of const or reference, in an unevaluated operand.
template <class T>
T make();

template <class Object>
concept Passes = requires(Object&& object) {
  elements(std::forward<Object>(object));
};
template <class Object>
concept Receives = requires(Object&& object, const Communicator& comm) {
  bcast(comm, elements(std::forward<Object>(object)), 0);
};

static_assert(Receives<MatrixXd&> && Receives<ArrayXXd&> && Receives<Eigen::Vector3f&> && Receives<RowMajorMatrix&>);
static_assert(Receives<MatrixXcd&> && Receives<Eigen::Matrix<bfloat16_t, 2, 2>&>);
static_assert(Receives<Eigen::Map<VectorXd>> && Receives<Eigen::Ref<VectorXd>&>);
static_assert(Receives<decltype(make<MatrixXd&>().leftCols(2))> && Receives<decltype(make<MatrixXd&>().transpose())>);
static_assert(Receives<decltype(make<MatrixXd&>().array())> && Receives<decltype(make<MatrixXd&>().reshaped())>);
static_assert(Receives<Tensor3&> && Receives<Eigen::TensorMap<Tensor3>>);
static_assert(Receives<Eigen::TensorFixedSize<int, Eigen::Sizes<2, 3>>&>);

// What can only be read, and results that would be lost with a temporary object.
static_assert(Passes<const MatrixXd&> && !Receives<const MatrixXd&>);
static_assert(Passes<Eigen::Map<const MatrixXd>> && !Receives<Eigen::Map<const MatrixXd>>);
static_assert(Passes<Eigen::Ref<const MatrixXd>&> && !Receives<Eigen::Ref<const MatrixXd>&>);
static_assert(Passes<decltype(make<const MatrixXd&>().leftCols(2))>);
static_assert(!Receives<decltype(make<const MatrixXd&>().leftCols(2))>);
static_assert(Passes<MatrixXd> && !Receives<MatrixXd>);
static_assert(Passes<const Tensor3&> && !Receives<const Tensor3&> && Passes<Tensor3> && !Receives<Tensor3>);
static_assert(Passes<Eigen::TensorMap<const Tensor3>> && !Receives<Eigen::TensorMap<const Tensor3>>);

// What has no coefficients in memory, or none that a collective carries.
static_assert(!Passes<decltype(make<MatrixXd&>() + make<MatrixXd&>())>);
static_assert(!Passes<decltype(make<MatrixXd&>() * make<MatrixXd&>())>);
static_assert(!Passes<decltype(2 * make<MatrixXd&>())> && !Passes<decltype(make<MatrixXd&>().reverse())>);
static_assert(!Passes<decltype((make<MatrixXd&>() + make<MatrixXd&>()).leftCols(1))>);
static_assert(!Passes<decltype(MatrixXd::Zero(2, 2))> && !Passes<decltype(make<Tensor3&>() + make<Tensor3&>())>);
static_assert(!Passes<Eigen::Matrix<std::string, 2, 2>&> && !Passes<Eigen::Matrix<int*, 2, 2>&>);
static_assert(!Passes<int&> && !Passes<std::span<int>>);

/// A matrix whose coefficient (row, column) is 10 * row + column + offset.
template <class Matrix>
Matrix numbered(int rows, int cols, double offset) {
  return Matrix::NullaryExpr(rows, cols, [offset](Eigen::Index row, Eigen::Index col) {
    return 10.0 * static_cast<double>(row) + static_cast<double>(col) + offset;
  });
}

TEST(EigenObjects, AreReduced) {
  const Communicator world = Communicator::world();
  const double ranks = world.size();
  const double sum_of_ranks = ranks * (ranks - 1) / 2;
  const MatrixXd in = numbered<MatrixXd>(3, 4, world.rank());
  const MatrixXd expected = ranks * numbered<MatrixXd>(3, 4, 0) + MatrixXd::Constant(3, 4, sum_of_ranks);
  MatrixXd out(3, 4);
  allreduce(world, elements(in), elements(out), ReduceOp::sum);
  EXPECT_EQ(out, expected);
  allreduce(world, elements((in + in).eval()), elements(out), ReduceOp::sum);
  EXPECT_EQ(out, 2 * expected);
  ArrayXXd in_place = in.array();
  allreduce(world, elements(in_place), ReduceOp::sum);
  EXPECT_TRUE((in_place == expected.array()).all());
  RowMajorMatrix by_rows = in;
  iallreduce(world, elements(by_rows), ReduceOp::sum).wait();
  EXPECT_EQ(by_rows, expected);
}

TEST(EigenObjects, AreGatheredIntoTheColumnsOfAMatrix) {
  const Communicator world = Communicator::world();
  const VectorXd own = VectorXd::Constant(3, world.rank());
  MatrixXd table(3, world.size());
  allgather(world, elements(own), elements(table));
  for (int rank = 0; rank < world.size(); ++rank) EXPECT_EQ(table.col(rank), VectorXd::Constant(3, rank));
}

TEST(EigenObjects, OfTwoStorageOrdersChangeTheirShape) {
  const Communicator world = Communicator::world();
  MatrixXd by_columns = numbered<MatrixXd>(2, 3, 0);
  RowMajorMatrix by_rows(3, 2);
  scatter(world, elements(by_columns.replicate(1, world.size()).eval()), elements(by_rows), 0);
  EXPECT_EQ(by_rows, by_columns.transpose());
}

TEST(EigenObjects, MayBePartsThatLieTogether) {
  const Communicator world = Communicator::world();
  const double from = world.rank() == 1 ? 5 : 0;
  MatrixXd matrix = MatrixXd::Zero(3, 4);
  matrix.middleCols(1, 2).setConstant(from);
  bcast(world, elements(matrix.middleCols(1, 2)), 1);
  MatrixXd expected = MatrixXd::Zero(3, 4);
  expected.middleCols(1, 2).setConstant(5);
  EXPECT_EQ(matrix, expected);
  VectorXd vector = VectorXd::Zero(4);
  vector.head(2).setConstant(from);
  bcast(world, elements(vector.head(2)), 1);
  EXPECT_EQ(vector, Eigen::Vector4d(5, 5, 0, 0));
  EXPECT_EQ(elements(matrix.block(1, 2, 2, 1)).data(), &matrix(1, 2));
  EXPECT_EQ(elements(matrix.block(1, 2, 1, 1)).size(), 1U);
  EXPECT_EQ(elements(matrix.topRows(3)).size(), 12U);
  EXPECT_EQ(elements(matrix.transpose()).data(), matrix.data());
  EXPECT_EQ(elements(matrix.block(1, 1, 0, 2)).size(), 0U);
  EXPECT_EQ(elements(MatrixXd()).size(), 0U);
  Eigen::Matrix<double, 1, Eigen::Dynamic> row(4);
  EXPECT_EQ(elements(row.tail(3)).data(), &row[1]);
}

TEST(EigenObjects, AreRefusedWhereTheirCoefficientsLieApart) {
  MatrixXd matrix = MatrixXd::Zero(5, 4);
  MatrixXcd complex = MatrixXcd::Zero(2, 2);
  const Eigen::Map<VectorXd, 0, Eigen::InnerStride<2>> every_second(matrix.data(), 3);
  const Eigen::Map<MatrixXd, 0, Eigen::OuterStride<>> padded(matrix.data(), 3, 2, Eigen::OuterStride<>(5));
  const auto refused = [](const auto& object, const char* size, const char* inner, const char* outer) {
    expect_error(outcome_of([&] { static_cast<void>(elements(object)); }), ErrorCode::invalid_argument,
                 {"elements: ", size, inner, outer, "object.eval()"});
  };
  refused(matrix.topRows(3), "3 x 4", "inner stride is 1,", "outer stride 5)");
  refused(matrix.row(2), "1 x 4", "inner stride is 5,", "outer stride");
  refused(matrix.diagonal(), "4 x 1", "inner stride is 6,", "outer stride");
  refused(complex.real(), "2 x 2", "inner stride is 2,", "outer stride 4)");
  refused(every_second, "3 x 1", "inner stride is 2,", "outer stride");
  refused(padded, "3 x 2", "inner stride is 1,", "outer stride 5)");
  refused(padded.transpose(), "2 x 3", "inner stride is 1,", "outer stride 5)");
  EXPECT_EQ(elements(matrix.topRows(3).eval()).size(), 12U);
}

TEST(EigenObjects, MayBeTensors) {
  const Communicator world = Communicator::world();
  Tensor3 tensor(2, 3, 4);
  tensor.setConstant(world.rank() + 1);
  allreduce(world, elements(tensor), ReduceOp::max);
  Tensor3 out(2, 3, 4);
  allreduce(world, elements(std::as_const(tensor)), elements(Eigen::TensorMap<Tensor3>(out.data(), 2, 3, 4)),
            ReduceOp::max);
  for (Eigen::Index index = 0; index < out.size(); ++index) EXPECT_EQ(out.data()[index], world.size());
}

}  // namespace
}  // namespace chorus::test
