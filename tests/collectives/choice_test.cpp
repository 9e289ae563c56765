// SPDX-License-Identifier: Apache-2.0
#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"
#include "collectives/prepared_call.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace chorus::test {
namespace {

class EveryCollective : public testing::TestWithParam<Collective> {};

bool any_applies(const Problem& problem) {
  return std::ranges::any_of(algorithms(problem.call.collective), [&](const Algorithm* algorithm) {
    return !needs_vendor(*algorithm) && algorithm->applies(problem);
  });
}

TEST_P(EveryCollective, HasAnAlgorithmForEveryProblem) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    for (const Layout& layout : layouts(ranks)) {
      for (const std::size_t memory : {std::size_t{0}, slot_bytes}) {
        const auto world = make_world({WorldKind::simulated, ranks, layout.nodes, memory});
        for (int type = 0; type < data_type_count; ++type) {
          for (const ReduceOp op : ops_for(GetParam(), static_cast<DataType>(type))) {
            for (const std::size_t count : counts_for(ranks, static_cast<DataType>(type))) {
              const Call call{.collective = GetParam(),
                              .type = static_cast<DataType>(type),
                              .op = op,
                              .root = ranks - 1,
                              .count = count,
                              .opaque_bytes = 24};
              ASSERT_TRUE(any_applies(problem_of(call, world->transport(0))))
                  << describe(call) << " on " << ranks << " ranks, " << layout.name << ", slots of " << memory;
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryCollective, HasAlgorithmsThatAreDescribed) {
  std::set<std::string_view> names;
  for (const Algorithm* algorithm : algorithms(GetParam())) {
    EXPECT_TRUE(names.insert(algorithm->name).second) << algorithm->name;
    EXPECT_FALSE(algorithm->summary.empty()) << algorithm->name;
    EXPECT_FALSE(algorithm->source.empty()) << algorithm->name;
    EXPECT_NE(algorithm->run, nullptr) << algorithm->name;
  }
  EXPECT_FALSE(names.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, EveryCollective, testing::ValuesIn(every_collective()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace chorus::test
