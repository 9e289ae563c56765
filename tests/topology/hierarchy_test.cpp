// SPDX-License-Identifier: Apache-2.0
#include "topology/hierarchy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "topology/topology.hpp"

namespace chorus {
namespace {

/// The PUs from `first` to `last`.
PuSet pus(int first, int last) {
  PuSet set;
  for (int pu = first; pu <= last; ++pu) set.set(pu);
  return set;
}

RankPlace at(const Topology& topology, int first, int last, int node = 0) {
  return {node, topology.place(pus(first, last))};
}

/// Each split as "package: 0 1 | 2 3 | 4 (node)": groups of an object further out than the split name its level.
std::string text(const Hierarchy& hierarchy) {
  std::string text;
  for (const Split& split : hierarchy.splits) {
    text += text.empty() ? "" : "; ";
    text += name(split.level);
    const char* separator = ": ";
    for (const RankGroup& group : split.groups) {
      for (const int rank : group.ranks) {
        text += fmt::format("{}{}", separator, rank);
        separator = " ";
      }
      if (group.level != split.level) text += fmt::format(" ({})", name(group.level));
      separator = " | ";
    }
  }
  return text;
}

// 2 packages x 2 NUMA domains x 2 L3 x 4 cores x 2 PUs: PUs 0-31 in package 0, 16 in a domain, 8 behind an L3.
const char* const large = "pack:2 numa:2 l3:2 core:4 pu:2";

TEST(Hierarchy, OfNoRanksOrOneRankHasNoSplit) {
  EXPECT_EQ(text(hierarchy_of({})), "");
  const RankPlace one[] = {at(Topology::described_by(large), 0, 0)};
  EXPECT_EQ(text(hierarchy_of(one)), "");
}

TEST(Hierarchy, OfOneRankPerCoreOnTwoCoresBehindOneCacheHasNoSplit) {
  const Topology laptop = Topology::described_by("pack:1 l3:1 core:2 pu:1");
  const RankPlace places[] = {at(laptop, 0, 0), at(laptop, 1, 1)};
  EXPECT_EQ(text(hierarchy_of(places)), "");
}

TEST(Hierarchy, OfRanksPlacedByCoreFollowsEveryLevel) {
  const Topology machine = Topology::described_by(large);
  std::vector<RankPlace> places;
  for (int node = 0; node < 2; ++node) {
    for (int core = 0; core < 32; core += 2) places.push_back(at(machine, 2 * core, 2 * core + 1, node));
  }
  const Hierarchy hierarchy = hierarchy_of(places);
  EXPECT_EQ(text(hierarchy),
            "node: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 | 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31; "
            "package: 0 1 2 3 4 5 6 7 | 8 9 10 11 12 13 14 15 | 16 17 18 19 20 21 22 23 | 24 25 26 27 28 29 30 31; "
            "NUMA: 0 1 2 3 | 4 5 6 7 | 8 9 10 11 | 12 13 14 15 | 16 17 18 19 | 20 21 22 23 | 24 25 26 27 | "
            "28 29 30 31; "
            "L3: 0 1 | 2 3 | 4 5 | 6 7 | 8 9 | 10 11 | 12 13 | 14 15 | 16 17 | 18 19 | 20 21 | 22 23 | 24 25 | 26 27 | "
            "28 29 | 30 31");
  EXPECT_EQ(hierarchy.splits[3].groups[9], (RankGroup{Level::l3, 1, 1, {18, 19}}));
}

TEST(Hierarchy, OfRanksPlacedByNodeIsNotContiguous) {
  const Topology machine = Topology::described_by("pack:2 core:2 pu:1");
  std::vector<RankPlace> places;  // rank r on node r % 3
  for (int rank = 0; rank < 12; ++rank) places.push_back(at(machine, rank / 3, rank / 3, rank % 3));
  EXPECT_EQ(text(hierarchy_of(places)),
            "node: 0 3 6 9 | 1 4 7 10 | 2 5 8 11; package: 0 3 | 1 4 | 2 5 | 6 9 | 7 10 | 8 11");
}

TEST(Hierarchy, OfShuffledRanksIsTheSameUpToTheirNumbers) {
  const Topology machine = Topology::described_by(large);
  std::vector<int> core_of_rank(64);
  std::iota(core_of_rank.begin(), core_of_rank.end(), 0);
  std::shuffle(core_of_rank.begin(), core_of_rank.end(), std::mt19937(7));
  std::vector<RankPlace> places;
  for (const int core : core_of_rank) places.push_back(at(machine, core % 32 * 2, core % 32 * 2, core / 32));
  const Hierarchy hierarchy = hierarchy_of(places);
  ASSERT_EQ(hierarchy.splits.size(), 4U);
  const int cores_per_group[] = {32, 16, 8, 4};
  for (std::size_t level = 0; level < 4; ++level) {
    const Split& split = hierarchy.splits[level];
    ASSERT_EQ(split.groups.size(), 64U / cores_per_group[level]);
    std::vector<int> seen;
    for (const RankGroup& group : split.groups) {
      EXPECT_TRUE(std::is_sorted(group.ranks.begin(), group.ranks.end()));
      for (const int rank : group.ranks) {
        EXPECT_EQ(core_of_rank[rank] / cores_per_group[level], core_of_rank[group.ranks[0]] / cores_per_group[level]);
        seen.push_back(rank);
      }
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen.size(), 64U);
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  }
}

TEST(Hierarchy, PutsRanksThatSpanGroupsIntoTheObjectThatCoversThem) {
  const Topology machine = Topology::described_by(large);
  const RankPlace places[] = {
      at(machine, 0, 1),    // a core of package 0
      at(machine, 0, 31),   // package 0
      at(machine, 32, 33),  // a core of package 1
      at(machine, 30, 33),  // a core of each package
      at(machine, 0, 63),   // not bound
      at(machine, 8, 23),   // half of each NUMA domain of package 0
      at(machine, 16, 31),  // the second NUMA domain of package 0
  };
  EXPECT_EQ(text(hierarchy_of(places)),
            "package: 0 1 5 6 | 2 | 3 4 (node); NUMA: 0 | 1 5 (package) | 2 | 3 4 (node) | 6");
}

TEST(Hierarchy, DropsLevelsThatSplitNothing) {
  const Topology machine = Topology::described_by("pack:2 numa:1 l3:1 l2:1 core:4 pu:1");
  const RankPlace places[] = {at(machine, 0, 0), at(machine, 1, 1), at(machine, 4, 4)};
  EXPECT_EQ(text(hierarchy_of(places)), "package: 0 1 | 2");
}

TEST(Hierarchy, KeepsGroupsOfOneRankBecauseTheyNameTheBoundary) {
  const Topology machine = Topology::described_by("pack:2 numa:2 core:4 pu:1");
  const RankPlace across_domains[] = {at(machine, 0, 0), at(machine, 4, 4)};
  EXPECT_EQ(text(hierarchy_of(across_domains)), "NUMA: 0 | 1");
  const RankPlace across_nodes[] = {at(machine, 0, 0, 5), at(machine, 0, 0, 3)};
  EXPECT_EQ(text(hierarchy_of(across_nodes)), "node: 0 | 1");
}

TEST(Hierarchy, KeepsRanksOfOneProcessingUnitTogether) {
  const Topology machine = Topology::described_by("pack:2 l3:2 core:2 pu:2");
  std::vector<RankPlace> places(4, at(machine, 5, 5));
  EXPECT_EQ(text(hierarchy_of(places)), "");
  places.push_back(at(machine, 1, 1));
  EXPECT_EQ(text(hierarchy_of(places)), "L3: 0 1 2 3 | 4");
}

TEST(Hierarchy, TakesPartialCoresAsTheCoresTheyBelongTo) {
  const Topology machine = Topology::described_by("l3:2 core:2 pu:2");
  const RankPlace places[] = {at(machine, 0, 0), at(machine, 1, 2), at(machine, 3, 3), at(machine, 3, 4)};
  EXPECT_EQ(text(hierarchy_of(places)), "L3: 0 1 2 | 3 (NUMA)");
}

TEST(Hierarchy, OfUnboundRanksSplitsByNodeOnly) {
  const Topology machine = Topology::described_by(large);
  const std::vector<RankPlace> one_node(4, at(machine, 0, 63));
  EXPECT_EQ(text(hierarchy_of(one_node)), "");
  const RankPlace two_nodes[] = {at(machine, 0, 63, 1), at(machine, 0, 63, 2), at(machine, 0, 63, 1)};
  EXPECT_EQ(text(hierarchy_of(two_nodes)), "node: 0 2 | 1");
}

TEST(Hierarchy, DividesEachNodeAsItsOwnMachineIsDivided) {
  const Topology packages = Topology::described_by("pack:2 core:2 pu:1");
  const Topology caches = Topology::described_by("pack:1 l3:2 core:2 pu:1");
  std::vector<RankPlace> places;
  for (int core = 0; core < 4; ++core) places.push_back(at(packages, core, core, 0));
  for (int core = 0; core < 4; ++core) places.push_back(at(caches, core, core, 1));
  EXPECT_EQ(text(hierarchy_of(places)),
            "node: 0 1 2 3 | 4 5 6 7; package: 0 1 | 2 3 | 4 5 6 7; L3: 0 1 (package) | 2 3 (package) | 4 5 | 6 7");
}

TEST(Hierarchy, SplitsBySharedL2AndNotByPrivateOne) {
  const Topology clusters = Topology::described_by("l3:1 l2:2 core:4 pu:1");
  const RankPlace shared[] = {at(clusters, 0, 0), at(clusters, 1, 1), at(clusters, 4, 4)};
  EXPECT_EQ(text(hierarchy_of(shared)), "L2: 0 1 | 2");
  const Topology usual = Topology::described_by("l3:1 l2:8 core:1 pu:2");
  const RankPlace own[] = {at(usual, 0, 1), at(usual, 2, 3), at(usual, 4, 5)};
  EXPECT_EQ(text(hierarchy_of(own)), "");
}

TEST(Hierarchy, TakesTheDomainsWhereACacheHoldsSeveralOfThem) {
  const Topology machine = Topology::described_by("pack:2 l3:1 numa:2 core:2 pu:1");
  std::vector<RankPlace> places;
  for (int core = 0; core < 8; ++core) places.push_back(at(machine, core, core));
  places.push_back(at(machine, 1, 2));  // two domains, one L3
  EXPECT_EQ(text(hierarchy_of(places)), "package: 0 1 2 3 8 | 4 5 6 7; NUMA: 0 1 | 2 3 | 4 5 | 6 7 | 8 (package)");
}

TEST(Hierarchy, TakesThePackagesWhereADomainHoldsSeveralOfThem) {
  const Topology machine = Topology::described_by("numa:1 pack:2 core:2 pu:1");
  std::vector<RankPlace> places;
  for (int core = 0; core < 4; ++core) places.push_back(at(machine, core, core));
  EXPECT_EQ(text(hierarchy_of(places)), "package: 0 1 | 2 3");
}

}  // namespace
}  // namespace chorus
