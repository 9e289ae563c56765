// SPDX-License-Identifier: Apache-2.0
#include "carry_out.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"
#include "collectives/prepared_call.hpp"
#include "transport/simulated.hpp"

#include <chorus/error.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Every algorithm on six ranks, the middle one of which fails.
class Failure : public testing::TestWithParam<const Algorithm*> {
 protected:
  static constexpr int ranks = 6;

  /// The call, if the algorithm of this test can carry it out in `world`.
  [[nodiscard]] std::optional<PreparedCall> prepare(SimulatedWorld& world, int root) const {
    const Collective collective = collective_of(*GetParam());
    const Call call{collective, DataType::int32, ReduceOp::sum, root, collective == Collective::barrier ? 0U : 600U};
    if (!GetParam()->applies(problem_of(call, world.transport(0)))) return std::nullopt;
    return PreparedCall(call, ranks, {.in_place = collective == Collective::bcast});
  }

  static Collective collective_of(const Algorithm& wanted) {
    for (int collective = 0; collective < even_collective_count; ++collective) {
      for (const Algorithm* algorithm : algorithms(static_cast<Collective>(collective))) {
        if (algorithm == &wanted) return static_cast<Collective>(collective);
      }
    }
    throw std::logic_error("an algorithm of no collective");
  }

  /// True where `rank` cannot finish rightly without having heard, directly or not, of `other`.
  static bool needs(const Call& call, int rank, int other) {
    if (rank == other) return false;
    switch (call.collective) {
      case Collective::bcast:
      case Collective::scatter:
        return other == call.root;
      case Collective::reduce:
      case Collective::gather:
        return rank == call.root;
      case Collective::scan:
      case Collective::exscan:
        return other < rank;
      default:
        return true;
    }
  }
  /// The ranks that need `other` have errors; returns whether there are any.
  static bool expect_errors_of_those_that_need(const Call& call, int other,
                                               const std::vector<std::exception_ptr>& errors) {
    bool any = false;
    for (int rank = 0; rank < ranks; ++rank) {
      if (!needs(call, rank, other)) continue;
      EXPECT_NE(errors[static_cast<std::size_t>(rank)], nullptr) << "rank " << rank;
      any = true;
    }
    return any;
  }
};

std::vector<const Algorithm*> every_algorithm() {
  std::vector<const Algorithm*> all;
  for (int collective = 0; collective < even_collective_count; ++collective) {
    for (const Algorithm* algorithm : algorithms(static_cast<Collective>(collective))) {
      if (!needs_vendor(*algorithm)) all.push_back(algorithm);
    }
  }
  return all;
}

TEST_P(Failure, OfOneRankIsSilentlyIgnoredByNobody) {
  constexpr int failing = 3;
  for (const Layout& layout : layouts(ranks)) {
    SimulatedWorld world({.ranks = ranks, .nodes = layout.nodes, .slot_bytes = slot_bytes});
    const auto prepared = prepare(world, failing);
    if (!prepared) continue;
    const auto report = world.run([&](Transport& transport) -> Task<> {
      if (transport.rank() == failing) throw std::runtime_error("out of paper");
      co_await perform(*GetParam(), transport, *prepared);
    });
    EXPECT_NE(report.errors[failing], nullptr);
    const bool needed = expect_errors_of_those_that_need(prepared->call(), failing, report.errors);
    // To a root that fails the others may give their parts and be done.
    if (report.deadlock.empty() && !needed) continue;
    EXPECT_THAT(report.deadlock, HasSubstr("rank 3: failed: out of paper")) << layout.name;
    EXPECT_THAT(report.deadlock, ContainsRegex(" at [a-z_/]+[.][ch]pp:[0-9]+")) << layout.name;
  }
}

TEST_P(Failure, LostAtAnyMomentARankIsNamed) {
  constexpr int lost = 2;
  for (const Layout& layout : layouts(ranks)) {
    int losses = 0;
    for (VirtualTime when{}; when < 30us; when += 700ns) {
      SimulatedWorld world({.ranks = ranks, .nodes = layout.nodes, .slot_bytes = slot_bytes, .lost = {{lost, when}}});
      const auto prepared = prepare(world, lost);
      if (!prepared) break;
      const auto report = world.run([&](Transport& transport) -> Task<> {
        co_await perform(*GetParam(), transport, *prepared);  // checks the result of those that finish
      });
      if (report.errors[lost] == nullptr) continue;  // it had finished before
      ++losses;
      EXPECT_THROW(std::rethrow_exception(report.errors[lost]), Error);
      if (!report.deadlock.empty()) {
        EXPECT_THAT(report.deadlock, HasSubstr("rank 2: lost at"));
      }
      if (when == VirtualTime{}) expect_errors_of_those_that_need(prepared->call(), lost, report.errors);
    }
    const bool applied = losses > 0;
    SimulatedWorld world({.ranks = ranks, .nodes = layout.nodes, .slot_bytes = slot_bytes});
    EXPECT_EQ(applied, prepare(world, lost).has_value()) << layout.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Failure, testing::ValuesIn(every_algorithm()), [](const auto& info) {
  return std::to_string(info.index) + "_" + std::string(info.param->name);
});

TEST(Deadlock, NamesTheLineEveryRankWaitsIn) {
  const Algorithm* const ring = *std::ranges::find_if(
      algorithms(Collective::allreduce), [](const Algorithm* algorithm) { return algorithm->name == "ring"; });
  SimulatedWorld world({.ranks = 8, .slot_bytes = 0, .lost = {{5, VirtualTime{}}}});
  const PreparedCall prepared({Collective::allreduce, DataType::int32, ReduceOp::sum, 0, 64}, 8, {});
  const auto report = world.run([&](Transport& transport) -> Task<> { co_await perform(*ring, transport, prepared); });
  EXPECT_THAT(report.deadlock, HasSubstr("rank 5: lost at 0 µs"));
  EXPECT_THAT(report.deadlock,
              HasSubstr("sending 32 bytes to rank ... and receiving 32 bytes from rank ... at allreduce/ring.cpp:"));
}

}  // namespace
}  // namespace chorus::test
