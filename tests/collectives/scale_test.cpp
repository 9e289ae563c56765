// SPDX-License-Identifier: Apache-2.0
#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/matrix.hpp"
#include "collectives/prepared_call.hpp"
#include "transport/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::test {
namespace {

constexpr int ranks = 1024;
constexpr int ranks_a_node = 16;

const Algorithm& allreduce_named(std::string_view name) {
  const auto all = algorithms(Collective::allreduce);
  return **std::ranges::find_if(all, [&](const Algorithm* algorithm) { return algorithm->name == name; });
}

/// Sums `count` numbers over all ranks: the rank's own number plus the number of the element.
SimulatedWorld::Report allreduce(const Algorithm& algorithm, std::size_t count) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / ranks_a_node);
  SimulatedWorld world({.ranks = ranks, .seed = 7, .nodes = nodes, .slot_bytes = 1024});
  const Call call{Collective::allreduce, DataType::int32, ReduceOp::sum, 0, count};
  auto report = world.run([&](Transport& transport) -> Task<> {
    std::vector<std::int32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = transport.rank() + static_cast<std::int32_t>(i);
    std::byte* const bytes = std::as_writable_bytes(std::span(values)).data();
    co_await carry_out(algorithm, transport, {call, bytes, bytes});
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t sum = ranks * (ranks - 1) / 2 + ranks * static_cast<std::int32_t>(i);
      if (values[i] != sum) throw std::runtime_error("a wrong sum");
    }
  });
  report.check();
  return report;
}

TEST(SimulatedScale, Ring1024Ranks) {
  const auto report = allreduce(allreduce_named("ring"), 2 * ranks);
  EXPECT_EQ(report.busiest.messages, 2 * (ranks - 1));
  EXPECT_EQ(report.busiest.bytes, 2 * (ranks - 1) * 2 * sizeof(std::int32_t));
}

TEST(SimulatedScale, RecursiveDoubling1024Ranks) {
  const auto report = allreduce(allreduce_named("recursive_doubling"), 16);
  // Of ten steps four are inside the nodes.
  EXPECT_EQ(report.busiest.messages, 6);
  EXPECT_EQ(report.busiest.bytes, 6 * 16 * sizeof(std::int32_t));
}

/// Those of messages in which each rank finds its partners by a rule that few ranks do not try out.
struct ScaleCase {
  Collective collective;
  std::string_view name;
  int ranks = 1000;
};
void PrintTo(const ScaleCase& scale_case, std::ostream* stream) {
  *stream << chorus::name(scale_case.collective) << " by " << scale_case.name;
}

class SimulatedScaleOf : public testing::TestWithParam<ScaleCase> {};

TEST_P(SimulatedScaleOf, AThousandRanks) {
  const auto [collective, wanted, size] = GetParam();
  const auto all = algorithms(collective);
  const Algorithm& algorithm = **std::ranges::find(all, wanted, &Algorithm::name);
  SimulatedWorld world({.ranks = size, .seed = 7, .slot_bytes = 0});
  const bool blocks = collective == Collective::allgather || collective == Collective::reduce_scatter_block;
  const std::size_t count = blocks ? 1 : collective == Collective::barrier ? 0 : 20'000;
  const Call call{collective, DataType::int32, ReduceOp::max, has_root(collective) ? size / 3 : 0, count};
  const PreparedCall prepared(call, size, {.in_place = collective == Collective::bcast});
  const auto report =
      world.run([&](Transport& transport) -> Task<> { co_await perform(algorithm, transport, prepared); });
  ASSERT_NO_THROW(report.check());
  const LevelTraffic formula = algorithm.traffic(problem_of(call, world.transport(0))).messages;
  EXPECT_EQ(static_cast<double>(report.busiest.messages), formula.messages);
  EXPECT_EQ(static_cast<double>(report.busiest.bytes), formula.bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Every, SimulatedScaleOf,
    testing::Values(ScaleCase{Collective::barrier, "k_dissemination"}, ScaleCase{Collective::bcast, "circulant"},
                    ScaleCase{Collective::bcast, "knomial"}, ScaleCase{Collective::bcast, "bine"},
                    ScaleCase{Collective::reduce, "circulant"}, ScaleCase{Collective::reduce, "knomial"},
                    ScaleCase{Collective::reduce, "bine"}, ScaleCase{Collective::allreduce, "recursive_multiplying"},
                    ScaleCase{Collective::allreduce, "swing"}, ScaleCase{Collective::allreduce, "swing_whole"},
                    ScaleCase{Collective::allgather, "swing", 1024},
                    ScaleCase{Collective::reduce_scatter_block, "swing", 1024}),
    [](const auto& info) {
      return std::string(chorus::name(info.param.collective)) + "_" + std::string(info.param.name);
    });

}  // namespace
}  // namespace chorus::test
