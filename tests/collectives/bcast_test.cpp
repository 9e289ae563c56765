// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Bcast : public testing::TestWithParam<MatrixCase> {};

TEST_P(Bcast, IsRightForEveryCount) { check_counts(Collective::bcast, GetParam()); }
TEST_P(Bcast, IsRightForEveryType) { check_types(Collective::bcast, GetParam()); }
TEST_P(Bcast, IsRightInManyOrders) { check_seeds(Collective::bcast, GetParam()); }
TEST_P(Bcast, SendsWhatItsFormulaSays) { check_traffic(Collective::bcast, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Bcast, testing::ValuesIn(matrix_of(Collective::bcast)), name_of);

}  // namespace
}  // namespace chorus::test
