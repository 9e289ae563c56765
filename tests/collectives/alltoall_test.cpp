// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Alltoall : public testing::TestWithParam<MatrixCase> {};

TEST_P(Alltoall, IsRightForEveryCount) { check_counts(Collective::alltoall, GetParam()); }
TEST_P(Alltoall, IsRightForEveryType) { check_types(Collective::alltoall, GetParam()); }
TEST_P(Alltoall, IsRightInManyOrders) { check_seeds(Collective::alltoall, GetParam()); }
TEST_P(Alltoall, SendsWhatItsFormulaSays) { check_traffic(Collective::alltoall, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Alltoall, testing::ValuesIn(matrix_of(Collective::alltoall)), name_of);

}  // namespace
}  // namespace chorus::test
