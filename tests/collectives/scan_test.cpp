// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Scan : public testing::TestWithParam<MatrixCase> {};

TEST_P(Scan, IsRightForEveryCount) { check_counts(Collective::scan, GetParam()); }
TEST_P(Scan, IsRightForEveryTypeAndOperation) { check_types(Collective::scan, GetParam()); }
TEST_P(Scan, IsRightInManyOrders) { check_seeds(Collective::scan, GetParam()); }
TEST_P(Scan, SendsWhatItsFormulaSays) { check_traffic(Collective::scan, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Scan, testing::ValuesIn(matrix_of(Collective::scan)), name_of);

}  // namespace
}  // namespace chorus::test
