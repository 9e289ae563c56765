// SPDX-License-Identifier: Apache-2.0
#include "preload/per_rank.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace chorus::preload {
namespace {

TEST(PerRank, HasAValueForEachOfFewAndOfManyRanks) {
  for (const std::size_t ranks : {0U, 1U, 8U, 9U, 1000U}) {
    const PerRank<double> halves(ranks, [](std::size_t rank) { return static_cast<double>(rank) / 2; });
    ASSERT_EQ(halves.size(), ranks);
    ASSERT_EQ(halves.all().size(), ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(halves[rank], static_cast<double>(rank) / 2);
      EXPECT_EQ(&halves.all()[rank], &halves[rank]);
    }
  }
}

TEST(PerRank, AsksForTheRanksInTheirOrder) {
  std::size_t next = 10;
  const PerRank<std::size_t> numbers(3, [&next](std::size_t rank) { return next++ - rank; });
  EXPECT_EQ(numbers[0], 10U);
  EXPECT_EQ(numbers[2], 10U);
}

}  // namespace
}  // namespace chorus::preload
