// SPDX-License-Identifier: Apache-2.0
#include "transport/deadlock_report.hpp"

#include <gtest/gtest.h>

namespace chorus::test {
namespace {

TEST(GroupByPlace, PutsRanksThatWaitForTheSameOnOneLine) {
  EXPECT_EQ(group_by_place({{0, "receiving from rank 9 at a.cpp:1"},
                            {1, "receiving from rank 9 at a.cpp:1"},
                            {2, "receiving from rank 9 at a.cpp:1"},
                            {5, "receiving from rank 9 at a.cpp:1"},
                            {7, "receiving from rank 9 at a.cpp:1"},
                            {8, "receiving from rank 9 at a.cpp:1"}}),
            "\n  ranks 0-2, 5, 7-8: receiving from rank 9 at a.cpp:1");
}

TEST(GroupByPlace, LeavesOutTheRanksWithinWhereTheyDiffer) {
  EXPECT_EQ(group_by_place({{3, "from rank 12 at b.cpp:1"}, {4, "from rank 13 at b.cpp:1"}, {5, "at a.cpp:2"}}),
            "\n  ranks 3-4: from rank ... at b.cpp:1\n  rank 5: at a.cpp:2");
}

TEST(GroupByPlace, SaysNothingOfNobody) { EXPECT_EQ(group_by_place({}), ""); }

}  // namespace
}  // namespace chorus::test
