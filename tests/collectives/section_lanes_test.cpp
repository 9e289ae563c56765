// SPDX-License-Identifier: Apache-2.0
// What the lanes of blocks of different lengths send between nodes, and what they say where lengths do not agree.
#include "algorithm.hpp"
#include "carry_out.hpp"
#include "collectives/crossing.hpp"
#include "transport/simulated.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using Lengths = std::vector<std::vector<std::size_t>>;  // from rank to rank

std::vector<Section> side_by_side(const std::vector<std::size_t>& lengths) {
  std::vector<Section> sections;
  std::size_t end = 0;
  for (const std::size_t bytes : lengths) {
    sections.push_back({end, bytes});
    end += bytes;
  }
  return sections;
}

/// An alltoallv in which each rank gives what `given` says and expects what `expected` says.
Task<> exchange(Transport& transport, const Lengths& given, const Lengths& expected) {
  const auto me = static_cast<std::size_t>(transport.rank());
  std::vector<std::size_t> to_me;
  for (const auto& of_rank : expected) to_me.push_back(of_rank[me]);
  const std::vector<Section> in_sections = side_by_side(given[me]);
  const std::vector<Section> out_sections = side_by_side(to_me);
  const std::vector<std::byte> in(in_sections.back().offset + in_sections.back().bytes);
  std::vector<std::byte> out(out_sections.back().offset + out_sections.back().bytes);
  co_await carry_out(algorithm_named(Collective::alltoallv, "lanes"), transport,
                     {.call = {.collective = Collective::alltoallv},
                      .in = in.data(),
                      .out = out.data(),
                      .in_sections = in_sections,
                      .out_sections = out_sections},
                     false);
}

Lengths equal_lengths(std::size_t ranks, std::size_t bytes) {
  return Lengths(ranks, std::vector<std::size_t>(ranks, bytes));
}

constexpr std::size_t slot_bytes = 4096;

TEST(LanesOfSections, SendAMessageToARankOfEachOtherNode) {
  SimulatedWorld world({.ranks = 9, .nodes = {0, 0, 0, 1, 1, 1, 2, 2, 2}, .slot_bytes = slot_bytes});
  const Lengths lengths = equal_lengths(9, 10);
  const auto report =
      world.run([&](Transport& transport) -> Task<> { co_await exchange(transport, lengths, lengths); });
  report.check();
  EXPECT_EQ(report.busiest.messages, 2U);
  EXPECT_EQ(report.busiest.bytes, 2 * 3 * (10 + sizeof(std::uint64_t))) << "of three ranks to each, with its length";
  const Problem problem = problem_of({.collective = Collective::alltoallv}, world.transport(0));
  const Traffic traffic = algorithm_named(Collective::alltoallv, "lanes").traffic(problem);
  EXPECT_EQ(traffic.messages.messages, 2);
  EXPECT_EQ(traffic.messages.bytes, 2 * 3 * sizeof(std::uint64_t)) << "without the blocks, which nobody knows";
}

TEST(LanesOfSections, SendLongBlocksStraight) {
  SimulatedWorld world({.ranks = 4, .nodes = {0, 0, 1, 1}, .slot_bytes = slot_bytes});
  Lengths lengths = equal_lengths(4, 10);
  constexpr std::size_t is_long = 1'000'000;
  lengths[0][3] = is_long;
  const auto report =
      world.run([&](Transport& transport) -> Task<> { co_await exchange(transport, lengths, lengths); });
  report.check();
  EXPECT_EQ(report.busiest.messages, 2U);
  EXPECT_EQ(report.busiest.bytes, is_long + 2 * (10 + sizeof(std::uint64_t)));
}

TEST(LanesOfSections, NameTheRankThatGivesAnotherLength) {
  SimulatedWorld world({.ranks = 4, .nodes = {0, 0, 1, 1}, .slot_bytes = slot_bytes});
  const Lengths expected = equal_lengths(4, 10);
  Lengths given = expected;
  given[2][0] = 9;  // together as much as is expected
  given[3][0] = 11;
  std::string told;
  const auto report = world.run([&](Transport& transport) -> Task<> {
    try {
      co_await exchange(transport, given, expected);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
      if (transport.rank() == 0) told = error.what();
    }
  });
  report.check();
  EXPECT_NE(told.find("rank 2 gives 9 bytes where rank 0 expects 10"), std::string::npos) << told;
}

}  // namespace
}  // namespace chorus::test
