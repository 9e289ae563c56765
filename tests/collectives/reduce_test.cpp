// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Reduce : public testing::TestWithParam<MatrixCase> {};

TEST_P(Reduce, IsRightForEveryCount) { check_counts(Collective::reduce, GetParam()); }
TEST_P(Reduce, IsRightForEveryTypeAndOperation) { check_types(Collective::reduce, GetParam()); }
TEST_P(Reduce, IsRightInManyOrders) { check_seeds(Collective::reduce, GetParam()); }
TEST_P(Reduce, SendsWhatItsFormulaSays) { check_traffic(Collective::reduce, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Reduce, testing::ValuesIn(matrix_of(Collective::reduce)), name_of);

}  // namespace
}  // namespace chorus::test
