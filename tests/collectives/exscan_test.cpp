// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Exscan : public testing::TestWithParam<MatrixCase> {};

TEST_P(Exscan, IsRightForEveryCount) { check_counts(Collective::exscan, GetParam()); }
TEST_P(Exscan, IsRightForEveryTypeAndOperation) { check_types(Collective::exscan, GetParam()); }
TEST_P(Exscan, IsRightInManyOrders) { check_seeds(Collective::exscan, GetParam()); }
TEST_P(Exscan, SendsWhatItsFormulaSays) { check_traffic(Collective::exscan, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Exscan, testing::ValuesIn(matrix_of(Collective::exscan)), name_of);

}  // namespace
}  // namespace chorus::test
