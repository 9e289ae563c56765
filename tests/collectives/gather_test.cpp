// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Gather : public testing::TestWithParam<MatrixCase> {};

TEST_P(Gather, IsRightForEveryCount) { check_counts(Collective::gather, GetParam()); }
TEST_P(Gather, IsRightForEveryType) { check_types(Collective::gather, GetParam()); }
TEST_P(Gather, IsRightInManyOrders) { check_seeds(Collective::gather, GetParam()); }
TEST_P(Gather, SendsWhatItsFormulaSays) { check_traffic(Collective::gather, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Gather, testing::ValuesIn(matrix_of(Collective::gather)), name_of);

}  // namespace
}  // namespace chorus::test
