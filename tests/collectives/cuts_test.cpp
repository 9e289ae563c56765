// SPDX-License-Identifier: Apache-2.0
// How data and ranks are cut up: Blocks, Pieces, Fold.
#include "blocks.hpp"
#include "fold.hpp"
#include "pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

namespace chorus {
namespace {

TEST(Blocks, CoverTheVectorAndDifferByOneElementAtMost) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    for (const std::size_t count : {0, 1, 2, 5, 16, 17, 18, 1000}) {
      const Blocks blocks({Collective::allreduce, DataType::int32, ReduceOp::sum, 0, count}, ranks);
      std::size_t end = 0, longest = 0, shortest = count * 4;
      for (int block = 0; block < ranks; ++block) {
        ASSERT_EQ(blocks.offset(block), end);
        ASSERT_EQ(blocks.bytes(block) % 4, 0U);
        end += blocks.bytes(block);
        longest = std::max(longest, blocks.bytes(block));
        shortest = std::min(shortest, blocks.bytes(block));
      }
      EXPECT_EQ(end, count * 4) << ranks << " ranks";
      EXPECT_LE(longest - shortest, 4U);
      EXPECT_EQ(blocks.longest_bytes(), longest);
    }
  }
}

TEST(Blocks, NumbersWrapAround) {
  const Blocks blocks(10, 8, 3);
  for (int block = 0; block < 3; ++block) {
    for (const int round : {-2, -1, 1, 2}) {
      EXPECT_EQ(blocks.offset(block + 3 * round), blocks.offset(block));
      EXPECT_EQ(blocks.bytes(block + 3 * round), blocks.bytes(block));
    }
  }
  EXPECT_EQ(blocks.bytes(0), 32U);
  EXPECT_EQ(blocks.bytes(-1), 24U);
}

TEST(Blocks, SpansAreTheSumOfTheirBlocks) {
  const Blocks blocks(23, 2, 7);
  for (int first = 0; first <= 7; ++first) {
    std::size_t bytes = 0;
    for (int last = first; last <= 7; ++last) {
      EXPECT_EQ(blocks.span_bytes(first, last), bytes) << first << " to " << last;
      if (last < 7) bytes += blocks.bytes(last);
    }
  }
}

TEST(Blocks, CountBeyondTwoToTheThirtyOne) {
  const std::size_t count = (std::size_t{1} << 40U) + 1;
  const Blocks blocks(count, 16, 3);
  EXPECT_EQ(blocks.offset(2) + blocks.bytes(2), count * 16);
}

TEST(Pieces, CoverTheSlotAndBeginOnCacheLines) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    for (const std::size_t bytes : {0, 1, 63, 64, 65, 128, 1000, 65536}) {
      const Pieces pieces(bytes, 4, ranks);
      std::size_t end = 0;
      for (int piece = 0; piece < ranks; ++piece) {
        ASSERT_EQ(pieces.offset(piece), end);
        ASSERT_TRUE(pieces.bytes(piece) == 0 || pieces.offset(piece) % 64 == 0);
        end += pieces.bytes(piece);
      }
      EXPECT_EQ(end, bytes) << ranks << " ranks";
    }
  }
}

TEST(Pieces, ShareTheWorkEvenly) {
  for (const std::size_t each : {64, 128, 8000}) {
    const Pieces pieces(each * 8, 8, 8);
    for (int piece = 0; piece < 8; ++piece) EXPECT_EQ(pieces.bytes(piece), each) << piece;
  }
}

TEST(Fold, KeepsAPowerOfTwoOfTheRanks) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    std::set<int> places;
    int out = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Fold fold(rank, ranks);
      ASSERT_TRUE(std::has_single_bit(static_cast<unsigned>(fold.core())));
      ASSERT_LE(fold.core(), ranks);
      ASSERT_GT(2 * fold.core(), ranks);
      if (fold.sits_out()) {
        ++out;
        continue;
      }
      EXPECT_TRUE(places.insert(fold.place()).second);
      EXPECT_EQ(fold.rank_at(fold.place()), rank) << "of " << ranks;
    }
    const int core = Fold::core_of(ranks);
    EXPECT_EQ(out, ranks - core);
    EXPECT_EQ(static_cast<int>(places.size()), core);
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(), core - 1);
  }
}

TEST(Fold, PairsOneThatSitsOutWithOneThatDoesNot) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Fold fold(rank, ranks);
      if (!fold.paired()) {
        EXPECT_FALSE(fold.sits_out());
        continue;
      }
      ASSERT_LT(fold.partner(), ranks);
      const Fold other(fold.partner(), ranks);
      EXPECT_TRUE(other.paired());
      EXPECT_EQ(other.partner(), rank);
      EXPECT_NE(other.sits_out(), fold.sits_out());
    }
  }
}

TEST(Fold, PlacesFollowTheOrderOfTheRanks) {
  std::vector<int> ranks;
  for (int place = 0; place < Fold::core_of(6); ++place) ranks.push_back(Fold(0, 6).rank_at(place));
  EXPECT_EQ(ranks, (std::vector<int>{0, 2, 4, 5}));
}

TEST(Pieces, AreOfWholeElementsOfAnyLength) {
  for (const std::size_t element : {1, 3, 12, 24, 100, 128}) {
    for (const int ranks : {1, 2, 3, 7}) {
      for (const std::size_t count : {0, 1, 5, 40}) {
        const Pieces pieces(count * element, element, ranks);
        for (int piece = 0; piece < ranks; ++piece) EXPECT_EQ(pieces.offset(piece) % element, 0U);
        EXPECT_EQ(pieces.offset(ranks), count * element);
      }
    }
  }
}

}  // namespace
}  // namespace chorus
