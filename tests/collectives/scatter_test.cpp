// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Scatter : public testing::TestWithParam<MatrixCase> {};

TEST_P(Scatter, IsRightForEveryCount) { check_counts(Collective::scatter, GetParam()); }
TEST_P(Scatter, IsRightForEveryType) { check_types(Collective::scatter, GetParam()); }
TEST_P(Scatter, IsRightInManyOrders) { check_seeds(Collective::scatter, GetParam()); }
TEST_P(Scatter, SendsWhatItsFormulaSays) { check_traffic(Collective::scatter, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Scatter, testing::ValuesIn(matrix_of(Collective::scatter)), name_of);

}  // namespace
}  // namespace chorus::test
