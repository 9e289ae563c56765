// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

namespace chorus::test {
namespace {

class Allgather : public testing::TestWithParam<MatrixCase> {};

TEST_P(Allgather, IsRightForEveryCount) { check_counts(Collective::allgather, GetParam()); }
TEST_P(Allgather, IsRightForEveryType) { check_types(Collective::allgather, GetParam()); }
TEST_P(Allgather, IsRightInManyOrders) { check_seeds(Collective::allgather, GetParam()); }
TEST_P(Allgather, SendsWhatItsFormulaSays) { check_traffic(Collective::allgather, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, Allgather, testing::ValuesIn(matrix_of(Collective::allgather)), name_of);

}  // namespace
}  // namespace chorus::test
