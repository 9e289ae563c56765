// SPDX-License-Identifier: Apache-2.0
// Trees whose subtrees are ranges of places, and how many children and segments the model gives a vector.
#include "tree_pipeline.hpp"
#include "link_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace chorus {
namespace {

TEST(RangeTree, HasEachPlaceOnceAndSubtreesInRanges) {
  for (int degree = 1; degree <= RangeTree::highest_degree; ++degree) {
    for (int places = 1; places <= 40; ++places) {
      for (int place = 0; place < places; ++place) {
        const RangeTree tree(place, places, degree);
        ASSERT_LE(tree.children(), degree);
        int next = place + 1;
        for (int i = 0; i < tree.children(); ++i) {
          ASSERT_EQ(tree.child(i), next) << degree << " children, " << places << " places, place " << place;
          const RangeTree child(tree.child(i), places, degree);
          ASSERT_EQ(child.parent(), place);
          next += child.size();
        }
        ASSERT_EQ(next, place + tree.size());
      }
    }
  }
}

TEST(RangeTree, IsAsDeepAsItsFarthestPlaceAndHasTheBusiestFirst) {
  for (int degree = 1; degree <= RangeTree::highest_degree; ++degree) {
    for (int places = 2; places <= 40; ++places) {
      int deepest = 0;
      for (int place = 0; place < places; ++place) {
        int steps = 0;
        for (int at = place; at != 0; at = RangeTree(at, places, degree).parent()) ++steps;
        deepest = std::max(deepest, steps);
        const int children = RangeTree(place, places, degree).children();
        ASSERT_LE(children, RangeTree(0, places, degree).children());
        ASSERT_LE(place > 0 ? children : 0, RangeTree(1, places, degree).children());
      }
      ASSERT_EQ(RangeTree::depth(places, degree), deepest) << degree << " children, " << places << " places";
    }
  }
}

TreePipeline best(std::size_t bytes, int ranks, const LinkModel& links) {
  return TreePipeline::best({Collective::bcast, DataType::uint8, ReduceOp::sum, 0, bytes}, ranks, &links);
}

TEST(TreePipeline, HasMoreSegmentsAndFewerChildrenOfLongerData) {
  const LinkModel links;
  TreePipeline before = best(0, 64, links);
  EXPECT_EQ(before.segments, 1);
  EXPECT_GT(before.degree, 1);
  for (std::size_t bytes = 1024; bytes <= 256 << 20; bytes *= 4) {
    const TreePipeline pipeline = best(bytes, 64, links);
    EXPECT_GE(pipeline.segments, before.segments) << bytes;
    EXPECT_LE(pipeline.degree, before.degree) << bytes;
    before = pipeline;
  }
  EXPECT_GT(before.segments, 1);
  EXPECT_EQ(before.degree, 1);
}

TEST(TreePipeline, HasMoreChildrenOnMoreRanks) {
  const LinkModel links;
  EXPECT_EQ(best(1 << 20, 4, links).degree, 1);
  EXPECT_GT(best(1 << 20, 1024, links).degree, 1);
}

TEST(TreePipeline, HasFewSegmentsWhereMessagesTakeLong) {
  LinkModel slow_to_begin;
  slow_to_begin.network.latency_us = 1e6;
  EXPECT_EQ(best(1 << 20, 64, slow_to_begin).segments, 16) << "of 64 KiB";
}

TEST(TreePipeline, HasOneSegmentOnItsWayWhereElementsAreLong) {
  const Call call{.collective = Collective::bcast, .type = DataType::opaque, .count = 3, .opaque_bytes = 1 << 20};
  EXPECT_EQ(TreePipeline::fewest_segments(call), 3);
  EXPECT_EQ(TreePipeline::most_segments(call), 3);
  EXPECT_EQ(TreePipeline::ahead(call.element_bytes()), 1);
  EXPECT_EQ(TreePipeline::ahead(std::size_t{64} << 10U), 2);
}

TEST(TreePipeline, HasNoSegmentWithoutAnElement) {
  LinkModel quick;
  quick.network.latency_us = 0;
  const Call call{Collective::bcast, DataType::float64, ReduceOp::sum, 0, 3};
  EXPECT_EQ(TreePipeline::best(call, 64, &quick).segments, 1);
}

/// What all takes where each segment is sent in turn, once the one before it is: by hand, for a chain of four ranks.
TEST(TreePipeline, TakesALatencyAStepAndSendsSegmentsWhileOthersAreOnTheirWay) {
  LinkModel links;
  links.network = {.latency_us = 10, .megabytes_per_second = 100};
  links.further_message = 0.25;
  const Problem problem{
      .call = {Collective::bcast, DataType::uint8, ReduceOp::sum, 0, 8000}, .ranks = 4, .nodes = 4, .links = &links};
  const TreePipeline pipeline{.degree = 1, .segments = 4};
  const double segments = 10 + 7 * 2.5 + 80;   // four received and sent by the rank that does both
  const double first_segment = 2 * (10 + 20);  // on its way from there to the last rank
  EXPECT_DOUBLE_EQ(links.microseconds(pipeline.traffic(problem), problem), segments + first_segment);
}

}  // namespace
}  // namespace chorus
