// SPDX-License-Identifier: Apache-2.0
#include "section_costs.hpp"

#include "link_model.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace chorus::test {
namespace {

constexpr std::size_t slot = 131072;

std::size_t longest(Collective collective, int ranks, const LinkModel& links) {
  return longest_shown({.collective = collective}, ranks, slot, links);
}

/// Slots at 10 bytes a nanosecond, the system at twice that.
LinkModel of_cores_enough() {
  return LinkModel::of({.cached = 10000, .streamed = 5000, .system = 20000, .system_long = 10000, .system_us = 0.5});
}

TEST(LongestSectionShown, IsThatWhoseTwoCopiesTakeAsLongAsOneByTheSystem) {
  LinkModel links = of_cores_enough();
  links.shared_peer_us = 0.1;
  // Two copies take 0.2 ns a byte and the system 0.05 ns, after 0.5 us and 0.1 us until the giver knows.
  EXPECT_NEAR(static_cast<double>(longest(Collective::alltoallv, 2, links)), 600 / 0.15, 1);
}

TEST(LongestSectionShown, IsLongerWhereAllReadWhatOneWrites) {
  const LinkModel links = of_cores_enough();
  EXPECT_EQ(longest(Collective::allgatherv, 2, links), longest(Collective::alltoallv, 2, links));
  EXPECT_GT(longest(Collective::allgatherv, 4, links), longest(Collective::alltoallv, 4, links));
}

TEST(LongestSectionShown, IsHalfASlotWhereTheSystemIsSlow) {
  LinkModel links = of_cores_enough();
  links.read.megabytes_per_second = 1;
  for (const Collective collective :
       {Collective::alltoallv, Collective::allgatherv, Collective::gatherv, Collective::scatterv}) {
    for (const int ranks : {1, 2, 8}) EXPECT_EQ(longest(collective, ranks, links), slot / 2);
  }
}

TEST(LongestSectionShown, CountsTheTurnsAtACore) {
  const Pace pace{.system = 20000, .system_long = 10000, .system_us = 0.6, .round_us = 1, .ranks_of_core = 2};
  Pace slow_rounds = pace;
  slow_rounds.round_us = 4;
  for (const Collective collective : {Collective::alltoallv, Collective::gatherv, Collective::scatterv}) {
    EXPECT_LT(longest(collective, 4, LinkModel::of(pace, true)),
              longest(collective, 4, LinkModel::of(slow_rounds, true)));
  }
}

TEST(GiversOfSections, WriteWhatTheRootOfAGathervGetsWhereTheyHaveCores) {
  const LinkModel apart = of_cores_enough();
  const LinkModel crowded = LinkModel::of({.round_us = 1, .ranks_of_core = 2}, true);
  EXPECT_TRUE(givers_write({.collective = Collective::gatherv}, apart, 2));
  EXPECT_FALSE(givers_write({.collective = Collective::gatherv}, crowded, 2));
  EXPECT_FALSE(givers_write({.collective = Collective::scatterv}, apart, 2));
  EXPECT_FALSE(givers_write({.collective = Collective::gatherv}, apart, 1));
}

}  // namespace
}  // namespace chorus::test
