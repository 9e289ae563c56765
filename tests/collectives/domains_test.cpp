// SPDX-License-Identifier: Apache-2.0
// The `domains` algorithms: what crosses between the domains of a node, and where they are chosen.

#include "carry_out.hpp"
#include "choose.hpp"
#include "collectives/crossing.hpp"
#include "collectives/prepared_call.hpp"
#include "transport/shared_group.hpp"
#include "transport/simulated.hpp"
#include "worlds/divided_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace chorus::test {
namespace {

constexpr const char* large = "pack:2 numa:4 core:8";
constexpr const char* larger = "pack:2 l3:12 core:8";

const Algorithm& domains_of(Collective collective) { return algorithm_named(collective, "domains"); }

/// By level, but for the innermost, which has no link.
std::vector<double> between_domains(const Crossing& crossing) {
  return {crossing.bytes.begin() + 1, crossing.bytes.end()};
}

class Domains : public testing::TestWithParam<Collective> {};

TEST_P(Domains, LetTheLeastCrossBetweenThem) {
  for (const char* const machine : {"pack:2 core:2", "pack:3 core:2", "pack:2 l3:2 core:3", large, larger}) {
    for (const std::size_t bytes : {std::size_t{1152}, std::size_t{65536}, std::size_t{200'000}}) {
      const Problem problem = problem_on(machine, GetParam(), bytes);
      if (problem.call.bytes() == 0) continue;
      ASSERT_TRUE(domains_of(GetParam()).applies(problem));
      EXPECT_EQ(between_domains(counted(domains_of(GetParam()), machine, problem)), between_domains(least(problem)))
          << machine << ", " << bytes << " bytes";
    }
  }
}

TEST_P(Domains, LetTheLeastCrossOfShortDataButForAllreduce) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}}) {
    const Problem problem = problem_on(large, GetParam(), bytes);
    if (problem.call.bytes() == 0) continue;
    const Crossing crossing = counted(domains_of(GetParam()), large, problem);
    if (GetParam() != Collective::allreduce) {
      EXPECT_EQ(crossing.bytes, least(problem).bytes);
    } else {  // all ranks read from all partners
      const double all = 64.0 * static_cast<double>(bytes);
      EXPECT_EQ(crossing.bytes, (std::vector<double>{7 * all, 3 * all, all}));
    }
  }
}

TEST_P(Domains, TakeInWhatTheirFormulaSays) {
  for (const std::size_t bytes : {std::size_t{512}, std::size_t{65536}, std::size_t{1} << 18U}) {
    const Problem problem = problem_on(large, GetParam(), bytes);
    EXPECT_EQ(counted(domains_of(GetParam()), large, problem).busiest, domains_of(GetParam()).traffic(problem).far)
        << bytes << " bytes";
  }
}

/// What they say of who has arrived lets no rank of a later call write what another still reads.
TEST_P(Domains, LeaveTheSlotsOfLaterCallsAlone) {
  constexpr int ranks = 8;
  const auto bindings = one_rank_a_core("pack:2 numa:2 core:2");
  const PreparedCall first({GetParam(), DataType::int32, ReduceOp::sum, 0, 3000}, ranks, {.in_place = true});
  const PreparedCall later({Collective::bcast, DataType::int32, ReduceOp::sum, 0, 500}, ranks, {.in_place = true});
  for (int seed = 0; seed < 40; ++seed) {
    SimulatedWorld world({.ranks = ranks,
                          .seed = static_cast<std::uint64_t>(seed),
                          .bindings = bindings,
                          .slow = {{1 + seed % 7, 100}}});
    const auto report = world.run([&](Transport& transport) -> Task<> {
      co_await perform(domains_of(GetParam()), transport, first);
      for (int call = 0; call < 20; ++call) {
        co_await perform(algorithm_named(Collective::bcast, "slot"), transport, later);
      }
    });
    ASSERT_NO_THROW(report.check()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Domains,
                         testing::Values(Collective::allreduce, Collective::bcast, Collective::reduce,
                                         Collective::allgather, Collective::reduce_scatter_block),
                         [](const auto& info) {
                           return std::string(info.param == Collective::allreduce   ? "allreduce"
                                              : info.param == Collective::bcast     ? "bcast"
                                              : info.param == Collective::reduce    ? "reduce"
                                              : info.param == Collective::allgather ? "allgather"
                                                                                    : "reduce_scatter_block");
                         });

TEST(DomainsAreChosen, OnLargeNodes) {
  for (const Collective collective :
       {Collective::allreduce, Collective::bcast, Collective::allgather, Collective::reduce_scatter_block}) {
    for (const char* const machine : {large, larger}) {
      const Problem problem = problem_on(machine, collective, std::size_t{64} << 10U);
      EXPECT_EQ(fastest(problem, LinkModel()).name, "domains") << machine;
    }
  }
}

TEST(DomainsAreChosen, BeforeTheOtherFormsInSharedMemoryForReduce) {
  for (const char* const machine : {large, larger}) {
    const Problem problem = problem_on(machine, Collective::reduce, std::size_t{64} << 10U);
    const LinkModel links;
    EXPECT_LT(predicted_us(domains_of(Collective::reduce), problem, links),
              predicted_us(algorithm_named(Collective::reduce, "shared"), problem, links));
  }
}

TEST(DomainsAreChosen, InsideTheNodesOfAHierarchicalCall) {
  const Problem on_a_node = problem_on(large, Collective::bcast, std::size_t{64} << 10U);
  const auto ranks = static_cast<std::size_t>(on_a_node.ranks);
  std::vector<int> nodes(2 * ranks, 0);
  std::fill(nodes.begin() + on_a_node.ranks, nodes.end(), 1);
  std::vector<Binding> bindings = one_rank_a_core(large);
  bindings.insert(bindings.end(), bindings.begin(), bindings.begin() + on_a_node.ranks);
  SimulatedWorld world({.ranks = 2 * on_a_node.ranks, .nodes = nodes, .bindings = bindings});
  const auto report = world.run([&](Transport& transport) -> Task<> {
    std::vector<std::byte> data(on_a_node.call.bytes());
    co_await carry_out(algorithm_named(Collective::bcast, "hierarchical"), transport,
                       {on_a_node.call, data.data(), data.data()});
  });
  ASSERT_NO_THROW(report.check());
  for (const int first : {0, on_a_node.ranks}) {
    double between_packages = 0;  // ranks are in the order of the cores
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto read = world.transport(first + static_cast<int>(rank)).node_memory()->bytes_read();
      for (std::size_t peer = 0; peer < ranks; ++peer) {
        if ((rank < ranks / 2) != (peer < ranks / 2)) between_packages += static_cast<double>(read[peer]);
      }
    }
    EXPECT_EQ(between_packages, least(on_a_node).bytes.back());
  }
}

TEST(DomainsAreChosen, OnNoNodeThatIsNotDivided) {
  for (const char* const machine : {"pack:1 core:8", "pack:1 numa:1 l3:1 core:2", "pack:2 core:1"}) {
    for (const Collective collective : {Collective::allreduce, Collective::bcast, Collective::barrier}) {
      EXPECT_FALSE(domains_of(collective).applies(problem_on(machine, collective, 4096))) << machine;
    }
  }
}

TEST(DomainsAreChosen, ForNoFunctionWhoseOperandsKeepTheirOrder) {
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::reduce_scatter_block}) {
    Problem problem = problem_on(large, collective, 65536);
    problem.call.op = ordered_function;
    EXPECT_FALSE(domains_of(collective).applies(problem));
  }
}

}  // namespace
}  // namespace chorus::test
