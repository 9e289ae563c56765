// SPDX-License-Identifier: Apache-2.0
// Who sends what to whom, and when: BroadcastSchedule, Swing, Doubling.
#include "broadcast_schedule.hpp"
#include "link_model.hpp"
#include "swing.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <vector>

namespace chorus {
namespace {

/// Follows a broadcast of `blocks` to `ranks` places round by round.
class Broadcast {
 public:
  Broadcast(int ranks, int blocks) : blocks_(blocks), has_(static_cast<std::size_t>(ranks)) {
    for (int place = 0; place < ranks; ++place) schedules_.emplace_back(place, ranks, blocks);
    for (int block = 0; block < blocks; ++block) has_[0].insert(block);
  }

  void check() {
    for (int number = 0; number < schedules_[0].rounds(); ++number) {
      std::vector<BroadcastSchedule::Round> rounds;
      for (const BroadcastSchedule& schedule : schedules_) rounds.push_back(schedule.round(number));
      for (std::size_t place = 0; place < rounds.size(); ++place) check_sending(rounds, place);
      for (std::size_t place = 0; place < rounds.size(); ++place) take(rounds[place], place);
    }
    for (const std::set<int>& blocks : has_) ASSERT_EQ(blocks.size(), static_cast<std::size_t>(blocks_));
  }

 private:
  void check_sending(const std::vector<BroadcastSchedule::Round>& rounds, std::size_t place) const {
    const BroadcastSchedule::Round& round = rounds[place];
    ASSERT_EQ(round.ahead == no_rank, round.outgoing == BroadcastSchedule::no_block);
    if (round.ahead == no_rank) return;
    ASSERT_TRUE(has_[place].contains(round.outgoing)) << "place " << place << " sends what it has not got";
    const BroadcastSchedule::Round& taker = rounds[static_cast<std::size_t>(round.ahead)];
    ASSERT_EQ(taker.behind, static_cast<int>(place));
    ASSERT_EQ(taker.incoming, round.outgoing);
  }
  void take(const BroadcastSchedule::Round& round, std::size_t place) {
    ASSERT_EQ(round.behind == no_rank, round.incoming == BroadcastSchedule::no_block);
    if (round.behind == no_rank) return;
    ASSERT_TRUE(has_[place].insert(round.incoming).second) << "place " << place << " gets a block twice";
  }

  int blocks_;
  std::vector<BroadcastSchedule> schedules_;
  std::vector<std::set<int>> has_;
};

TEST(BroadcastSchedule, BringsEveryBlockOnceToEveryPlace) {
  for (int ranks = 1; ranks <= 140; ++ranks) {
    for (const int blocks : {1, 2, 3, 5, 8, 13}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << blocks << " blocks");
      Broadcast(ranks, blocks).check();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(BroadcastSchedule, HoldsForThousandsOfRanks) {
  for (const int ranks : {1000, 1023, 1024, 1025, 2999, 4096}) {
    SCOPED_TRACE(ranks);
    Broadcast(ranks, 17).check();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(BroadcastSchedule, TakesTheFewestRounds) {
  EXPECT_EQ(BroadcastSchedule(0, 1, 1).rounds(), 0);
  EXPECT_EQ(BroadcastSchedule(0, 2, 1).rounds(), 1);
  EXPECT_EQ(BroadcastSchedule(0, 8, 10).rounds(), 12);
  EXPECT_EQ(BroadcastSchedule(0, 9, 10).rounds(), 13);
}

TEST(BroadcastSchedule, CutsLongDataIntoMoreBlocksButNoneThatIsEmpty) {
  const auto blocks = [](std::size_t count, int ranks, const LinkModel* links = nullptr) {
    return BroadcastSchedule::best_blocks({Collective::bcast, DataType::float64, ReduceOp::sum, 0, count}, ranks,
                                          links);
  };
  for (const int ranks : {1, 2, 3, 8, 1000}) {
    for (const std::size_t count : {0, 1, 2, 100}) EXPECT_EQ(blocks(count, ranks), 1) << ranks << ", " << count;
  }
  EXPECT_EQ(blocks(1U << 30U, 2), 1) << "nobody passes anything on";
  EXPECT_GT(blocks(1U << 20U, 8), 4);
  EXPECT_GT(blocks(1U << 22U, 8), blocks(1U << 20U, 8));
  EXPECT_GT(blocks(1U << 20U, 1000), blocks(1U << 20U, 8)) << "the first block has a longer way";
  EXPECT_GT(blocks(std::size_t{1} << 60U, 1000), 1000) << "beyond what an int can count";
  LinkModel slow;
  slow.network.latency_us = 200;
  EXPECT_LT(blocks(1U << 22U, 8, &slow), blocks(1U << 22U, 8)) << "each block takes a latency";
}

template <class Pairs>
class PairsOfPlaces : public testing::Test {};
using EveryPairs = testing::Types<Doubling, Swing>;
TYPED_TEST_SUITE(PairsOfPlaces, EveryPairs);

/// So that partners always hold the same piece, and all of a group reduce the same data in the same order.
TYPED_TEST(PairsOfPlaces, NumbersAgreeBelowTheBitOfTheStepAndDifferThere) {
  for (int steps = 0; steps <= 12; ++steps) {
    const int places = 1 << steps;
    std::set<int> numbers;
    for (int place = 0; place < places; ++place) {
      const int number = TypeParam::number(place, places);
      numbers.insert(number);
      for (int step = 0; step < steps; ++step) {
        const int peer = TypeParam::peer(place, step, places);
        ASSERT_EQ(TypeParam::peer(peer, step, places), place) << places << " places, step " << step;
        const int bits_to_step = (2 << step) - 1;
        ASSERT_EQ((number ^ TypeParam::number(peer, places)) & bits_to_step, 1 << step)
            << "places " << place << " and " << peer << " of " << places << ", step " << step;
      }
    }
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(places));
    EXPECT_EQ(*numbers.begin(), 0);
    EXPECT_EQ(*numbers.rbegin(), places - 1);
    EXPECT_EQ(TypeParam::number(0, places), 0) << "whose pieces are the longest, and who has a partner to fold";
  }
}

TEST(Swing, HasNearerPartnersThanDoubling) {
  for (int step = 0; step < 20; ++step) {
    const int distance = std::abs(Swing::distance(step));
    EXPECT_LE(std::abs(3 * distance - (2 << step)), 1) << "two thirds of 2^step, rounded to a whole number";
    EXPECT_EQ(Swing::distance(step) > 0, step % 2 == 0) << "ahead and behind in turn";
    EXPECT_EQ(distance % 2, 1) << "from an even place to an odd one";
  }
}

TEST(Negabinary, IsTheSumOfPowersOfMinusTwo) {
  for (int value = -50; value <= 50; ++value) {
    int sum = 0;
    for (int digits = negabinary(value, 1 << 10), power = 1; digits > 0; digits /= 2, power *= -2) {
      sum += digits % 2 * power;
    }
    EXPECT_EQ(sum, value);
  }
}

}  // namespace
}  // namespace chorus
