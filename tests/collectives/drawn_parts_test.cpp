// SPDX-License-Identifier: Apache-2.0
// What is made for several nodes, on parts of a communicator that lie across uneven nodes, as drawn colors and keys cut
// them.

#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"
#include "collectives/prepared_call.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using Case = std::tuple<Collective, WorldKind>;

class DrawnParts : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static Collective collective() { return std::get<0>(GetParam()); }
  [[nodiscard]] static WorldKind kind() { return std::get<1>(GetParam()); }
};

/// Of short vectors and of long ones, from drawn roots, in place and not.
std::vector<PreparedCall> drawn_calls(Collective collective, int ranks) {
  std::mt19937 random(static_cast<unsigned>(ranks));
  std::vector<PreparedCall> calls;
  for (const std::size_t some : {0, 1, 7, 300, 4099}) {
    const int root = has_root(collective) ? static_cast<int>(random() % static_cast<unsigned>(ranks)) : 0;
    const std::size_t count = collective == Collective::barrier ? 0 : some;
    const Call call{collective, DataType::int32, ReduceOp::sum, root, count};
    const bool may_choose = collective != Collective::barrier && collective != Collective::bcast;
    const bool in_place = collective == Collective::bcast || (may_choose && random() % 2 == 0);
    calls.emplace_back(call, ranks, Placement::of_call(calls.size(), in_place, size_of(call.type)));
  }
  return calls;
}

TEST_P(DrawnParts, GetWhatTheOracleSays) {
  int worlds_with_calls = 0;
  for (const Layout& part : drawn_parts(kind())) {
    const auto ranks = static_cast<int>(part.nodes.size());
    const auto world = make_world({kind(), ranks, part.nodes, slot_bytes});
    const std::vector<PreparedCall> calls = drawn_calls(collective(), ranks);
    for (const Algorithm* algorithm : algorithms(collective())) {
      if (needs_vendor(*algorithm) || !needs_nodes(*algorithm, collective())) continue;
      if (!algorithm->applies(problem_of(calls[1].call(), world->transport(0)))) continue;
      SCOPED_TRACE(testing::Message() << algorithm->name << " on ranks " << part.name);
      ASSERT_NO_THROW(world->run([&](Transport& transport) -> Task<> {
        for (const PreparedCall& call : calls) co_await perform(*algorithm, transport, call);
      }));
      ++worlds_with_calls;
    }
  }
  EXPECT_GE(worlds_with_calls, kind() == WorldKind::simulated ? 15 : 3);
}

INSTANTIATE_TEST_SUITE_P(Every, DrawnParts,
                         testing::Combine(testing::ValuesIn(every_collective()),
                                          testing::Values(WorldKind::simulated, WorldKind::threads)),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) + "_" + name(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace chorus::test
