// SPDX-License-Identifier: Apache-2.0
// What the lanes of blocks of different lengths send between nodes, and what they say where lengths do not agree.
#include "algorithm.hpp"
#include "base/names.hpp"
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

/// A call in which each rank gives what `given` says and expects what `expected` says.
Task<> exchange(Transport& transport, Collective collective, const Lengths& given, const Lengths& expected) {
  const auto me = static_cast<std::size_t>(transport.rank());
  std::vector<std::size_t> to_me;
  for (const auto& of_rank : expected) to_me.push_back(of_rank[me]);
  const std::vector<Section> in_sections = side_by_side(given[me]);
  const std::vector<Section> out_sections = side_by_side(to_me);
  const std::vector<std::byte> in(in_sections.back().offset + in_sections.back().bytes);
  std::vector<std::byte> out(out_sections.back().offset + out_sections.back().bytes);
  co_await carry_out(algorithm_named(collective, "lanes"), transport,
                     {.call = {.collective = collective},
                      .in = in.data(),
                      .out = out.data(),
                      .in_sections = in_sections,
                      .out_sections = out_sections},
                     false);
}

Lengths equal_lengths(std::size_t ranks, std::size_t bytes) {
  return Lengths(ranks, std::vector<std::size_t>(ranks, bytes));
}

constexpr std::size_t short_slot_bytes = 4096;

TEST(LanesOfSections, SendAMessageToARankOfEachOtherNode) {
  SimulatedWorld world({.ranks = 9, .nodes = {0, 0, 0, 1, 1, 1, 2, 2, 2}, .slot_bytes = short_slot_bytes});
  const Lengths lengths = equal_lengths(9, 10);
  const auto report = world.run(
      [&](Transport& transport) -> Task<> { co_await exchange(transport, Collective::alltoallv, lengths, lengths); });
  report.check();
  EXPECT_EQ(report.busiest.messages, 2U);
  EXPECT_EQ(report.busiest.bytes, 2 * 3 * (10 + sizeof(std::uint64_t))) << "of three ranks to each, with its length";
  const Problem problem = problem_of({.collective = Collective::alltoallv}, world.transport(0));
  const Traffic traffic = algorithm_named(Collective::alltoallv, "lanes").traffic(problem);
  EXPECT_EQ(traffic.messages.messages, 2);
  EXPECT_EQ(traffic.messages.bytes, 2 * 3 * sizeof(std::uint64_t)) << "without the blocks, which nobody knows";
}

TEST(LanesOfSections, SendLongBlocksStraight) {
  SimulatedWorld world({.ranks = 4, .nodes = {0, 0, 1, 1}, .slot_bytes = short_slot_bytes});
  Lengths lengths = equal_lengths(4, 10);
  constexpr std::size_t is_long = 1'000'000;
  lengths[0][3] = is_long;
  const auto report = world.run(
      [&](Transport& transport) -> Task<> { co_await exchange(transport, Collective::alltoallv, lengths, lengths); });
  report.check();
  EXPECT_EQ(report.busiest.messages, 2U);
  EXPECT_EQ(report.busiest.bytes, is_long + 2 * (10 + sizeof(std::uint64_t)));
}

/// Of four ranks on two nodes; in the collectives with a root that is rank 0.
class LengthsThatDisagree : public testing::TestWithParam<Collective> {
 protected:
  LengthsThatDisagree() {
    for (std::size_t from = 0; from < 4; ++from) {
      for (std::size_t to = 0; to < 4; ++to) {
        if (GetParam() == Collective::gatherv && to != 0) expected[from][to] = 0;
        if (GetParam() == Collective::scatterv && from != 0) expected[from][to] = 0;
      }
    }
    given = expected;
  }
  [[nodiscard]] bool scatters() const { return GetParam() == Collective::scatterv; }
  /// What the root's node and rank `other` of the other one give each other.
  std::size_t& between(std::size_t other) { return scatters() ? given[0][other] : given[other][0]; }
  /// What the ranks that find it are told.
  [[nodiscard]] std::string told() const {
    SimulatedWorld world({.ranks = 4, .nodes = {0, 0, 1, 1}, .slot_bytes = short_slot_bytes});
    std::string all;
    static_cast<void>(world.run([&](Transport& transport) -> Task<> {
      try {
        co_await exchange(transport, GetParam(), given, expected);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::mismatch) all += error.message() + '\n';  // the others are not waited for
      }
    }));
    return all;
  }

  Lengths expected = equal_lengths(4, 10);
  Lengths given;
};

TEST_P(LengthsThatDisagree, AreNamedWithTheirRanksWhereTheyAreAsMuchTogether) {
  between(2) = 9;
  between(3) = 11;
  const std::string pair =
      scatters() ? "rank 0 gives 9 bytes where rank 2 expects 10" : "rank 2 gives 9 bytes where rank 0 expects 10";
  EXPECT_NE(told().find(pair), std::string::npos) << told();
}

TEST_P(LengthsThatDisagree, AreToldOfWhereTheyAreNot) {
  constexpr std::size_t is_long = 1'000'000;
  for (const std::size_t other : {std::size_t{11}, std::size_t{0}, is_long}) {
    between(3) = other;
    EXPECT_NE(told().find("it has the blocks of several ranks"), std::string::npos) << other << ": " << told();
  }
  (scatters() ? expected[0][3] : expected[3][0]) = is_long;
  between(3) = 10;
  EXPECT_NE(told().find("it has the blocks of several ranks"), std::string::npos) << told();
}

INSTANTIATE_TEST_SUITE_P(LanesOfSections, LengthsThatDisagree,
                         testing::Values(Collective::alltoallv, Collective::alltoallw, Collective::gatherv,
                                         Collective::scatterv),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace chorus::test
