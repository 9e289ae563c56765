// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class ReduceScatterBlock : public testing::TestWithParam<MatrixCase> {};

TEST_P(ReduceScatterBlock, IsRightForEveryCount) { check_counts(Collective::reduce_scatter_block, GetParam()); }
TEST_P(ReduceScatterBlock, IsRightForEveryTypeAndOperation) {
  check_types(Collective::reduce_scatter_block, GetParam());
}
TEST_P(ReduceScatterBlock, IsRightInManyOrders) { check_seeds(Collective::reduce_scatter_block, GetParam()); }
TEST_P(ReduceScatterBlock, SendsWhatItsFormulaSays) { check_traffic(Collective::reduce_scatter_block, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, ReduceScatterBlock, testing::ValuesIn(matrix_of(Collective::reduce_scatter_block)),
                         name_of);

}  // namespace
}  // namespace chorus::test
