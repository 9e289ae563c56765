// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "carry_out.hpp"
#include "collectives/matrix.hpp"
#include "worlds/divided_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace chorus::test {
namespace {

class Allreduce : public testing::TestWithParam<MatrixCase> {};

TEST_P(Allreduce, IsRightForEveryCount) { check_counts(Collective::allreduce, GetParam()); }
TEST_P(Allreduce, IsRightForEveryTypeAndOperation) { check_types(Collective::allreduce, GetParam()); }
TEST_P(Allreduce, IsRightInManyOrders) { check_seeds(Collective::allreduce, GetParam()); }
TEST_P(Allreduce, SendsWhatItsFormulaSays) { check_traffic(Collective::allreduce, GetParam()); }

std::vector<std::vector<float>> random_inputs(int ranks, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(ranks));
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<std::vector<float>> inputs(static_cast<std::size_t>(ranks), std::vector<float>(count));
  for (std::vector<float>& input : inputs) std::ranges::generate(input, [&] { return values(random); });
  return inputs;
}

/// Each of the p-1 additions of an element rounds by at most epsilon/2 of a partial sum, which is no larger than the
/// sum of magnitudes.
void expect_close(const std::vector<float>& result, const std::vector<std::vector<float>>& inputs) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    long double sum = 0;
    long double magnitude = 0;
    for (const std::vector<float>& input : inputs) {
      sum += input[i];
      magnitude += std::abs(input[i]);
    }
    const long double bound =
        static_cast<long double>(inputs.size()) * std::numeric_limits<float>::epsilon() / 2 * magnitude * 1.01L;
    ASSERT_LE(std::abs(result[i] - sum), bound) << "element " << i;
  }
}

TEST_P(Allreduce, GivesAllRanksTheSameBitsCloseToTheSum) {
  const auto [algorithm, kind, ranks] = GetParam();
  for (const NamedWorld& named : every_world(ranks, kind)) {
    SCOPED_TRACE(named.name);
    for (const std::size_t count : {1, 8, 100, 2000}) {
      const auto world = make_world(named.options);
      const Call call{Collective::allreduce, DataType::float32, ReduceOp::sum, 0, count};
      if (!algorithm->applies(problem_of(call, world->transport(0)))) continue;
      const auto inputs = random_inputs(ranks, count);
      auto results = inputs;
      const Algorithm& allreduce = *algorithm;
      const auto body = [&](Transport& transport) -> Task<> {
        const auto me = static_cast<std::size_t>(transport.rank());
        std::byte* const out = std::as_writable_bytes(std::span(results[me])).data();
        co_await carry_out(allreduce, transport, {call, std::as_bytes(std::span(inputs[me])).data(), out});
      };
      ASSERT_NO_THROW(world->run(body));
      for (const std::vector<float>& result : results) {
        ASSERT_EQ(std::memcmp(result.data(), results[0].data(), count * sizeof(float)), 0) << count << " elements";
      }
      expect_close(results[0], inputs);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Allreduce, testing::ValuesIn(matrix_of(Collective::allreduce)), name_of);

}  // namespace
}  // namespace chorus::test
