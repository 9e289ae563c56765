// SPDX-License-Identifier: Apache-2.0
#include "remembered.hpp"

#include <gtest/gtest.h>

namespace chorus {
namespace {

Problem allreduce_of(std::size_t count, const LinkModel& links) {
  Problem problem{.call = {.collective = Collective::allreduce, .type = DataType::float32, .count = count}, .ranks = 8};
  problem.links = &links;
  return problem;
}

/// Answers with how often it was asked.
class Remembering : public testing::Test {
 protected:
  int ask(const Problem& problem) {
    return remembered_.of(problem, [&] { return ++asked_; });
  }

 private:
  Remembered<int> remembered_;
  int asked_ = 0;
};

TEST_F(Remembering, AsksOnceForTheSameProblem) {
  const LinkModel links;
  EXPECT_EQ(ask(allreduce_of(4, links)), 1);
  EXPECT_EQ(ask(allreduce_of(4, links)), 1);
  EXPECT_EQ(ask(allreduce_of(5, links)), 2);
  EXPECT_EQ(ask(allreduce_of(4, links)), 1);
}

TEST_F(Remembering, AsksAgainByAnotherModelEvenAtTheSameAddress) {
  LinkModel links;
  EXPECT_EQ(ask(allreduce_of(4, links)), 1);
  links.network.latency_us += 1;
  EXPECT_EQ(ask(allreduce_of(4, links)), 2);
  const LinkModel copy = links;
  EXPECT_EQ(ask(allreduce_of(4, copy)), 2);
}

TEST_F(Remembering, AsksAgainForOtherRanks) {
  const LinkModel links;
  Problem problem = allreduce_of(4, links);
  EXPECT_EQ(ask(problem), 1);
  problem.nodes = 2;
  EXPECT_EQ(ask(problem), 2);
}

TEST_F(Remembering, KeepsThePhasesOfOneCall) {
  const LinkModel links;
  Problem reduced = allreduce_of(4, links), between = reduced, spread = reduced;
  reduced.call.collective = Collective::reduce;
  spread.call.collective = Collective::bcast;
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(ask(reduced), 1);
    EXPECT_EQ(ask(between), 2);
    EXPECT_EQ(ask(spread), 3);
  }
}

TEST_F(Remembering, TakesEveryRootAlike) {
  const LinkModel links;
  Problem problem = allreduce_of(4, links);
  EXPECT_EQ(ask(problem), 1);
  problem.call.root = 3;
  EXPECT_EQ(ask(problem), 1);
}

}  // namespace
}  // namespace chorus
