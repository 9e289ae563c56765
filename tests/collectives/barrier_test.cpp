// SPDX-License-Identifier: Apache-2.0
#include "carry_out.hpp"
#include "collectives/matrix.hpp"

#include <atomic>
#include <stdexcept>

namespace chorus::test {
namespace {

class Barrier : public testing::TestWithParam<MatrixCase> {};

TEST_P(Barrier, ReturnsOnEveryRank) { check_counts(Collective::barrier, GetParam()); }
TEST_P(Barrier, ReturnsInManyOrders) { check_seeds(Collective::barrier, GetParam()); }
TEST_P(Barrier, SendsWhatItsFormulaSays) { check_traffic(Collective::barrier, GetParam()); }

TEST_P(Barrier, LetsNobodyOutBeforeEveryoneIsIn) {
  constexpr int barriers = 30;
  const auto [algorithm, kind, ranks] = GetParam();
  for (const Layout& layout : layouts(ranks)) {
    const auto world = make_world({kind, ranks, layout.nodes, slot_bytes});
    const Call call{.collective = Collective::barrier};
    if (!algorithm->applies(problem_of(call, world->transport(0)))) continue;
    std::atomic<int> entered{0};
    const Algorithm& barrier = *algorithm;
    const int everyone = ranks;
    const auto body = [&](Transport& transport) -> Task<> {
      for (int number = 1; number <= barriers; ++number) {
        ++entered;
        co_await carry_out(barrier, transport, {.call = call});
        if (entered < number * everyone) throw std::logic_error("a rank left the barrier early");
      }
    };
    ASSERT_NO_THROW(world->run(body)) << layout.name;
    ASSERT_EQ(entered, barriers * ranks);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Barrier, testing::ValuesIn(matrix_of(Collective::barrier)), name_of);

}  // namespace
}  // namespace chorus::test
