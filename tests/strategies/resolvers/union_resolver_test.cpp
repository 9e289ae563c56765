// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/simple_cluster_resolver.hpp>
#include <chorus/strategies/union_resolver.hpp>

#include "strategies/resolvers/rejection.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace chorus {
namespace {

using Indices = std::map<int, std::string>;

std::shared_ptr<const ClusterResolver> simple(const ClusterSpec::Jobs& jobs,
                                              const SimpleResolverOptions& options = {}) {
  return std::make_shared<SimpleClusterResolver>(ClusterSpec(jobs), options);
}

TEST(UnionResolver, JoinsListsInTheOrderOfTheResolvers) {
  const UnionResolver both({simple({{"worker", {"b", "a"}}}), simple({{"worker", {"c"}}, {"ps", {"d"}}})});
  EXPECT_EQ(both.cluster_spec(), ClusterSpec({{"worker", {"b", "a", "c"}}, {"ps", {"d"}}}));
}

TEST(UnionResolver, KeepsIndicesWhereOneClusterHasGaps) {
  const UnionResolver both({simple({{"worker", {"a", "b"}}}), simple({{"worker", Indices{{5, "c"}}}})});
  EXPECT_EQ(both.cluster_spec(), ClusterSpec({{"worker", Indices{{0, "a"}, {1, "b"}, {5, "c"}}}}));
}

TEST(UnionResolver, JoinsMapsWithoutGapsAsLists) {
  const UnionResolver both({simple({{"worker", {"a", "b"}}}), simple({{"worker", Indices{{0, "c"}, {1, "d"}}}})});
  EXPECT_EQ(both.cluster_spec(), ClusterSpec({{"worker", {"a", "b", "c", "d"}}}));
}

TEST(UnionResolver, RejectsAnIndexGivenTwice) {
  const UnionResolver both({simple({{"worker", {"a", "b"}}}), simple({{"worker", Indices{{1, "c"}}}})});
  test::expect_rejection(ErrorCode::invalid_argument, {"\"worker\" has two tasks of index 1, b and c"},
                         [&] { static_cast<void>(both.cluster_spec()); });
}

TEST(UnionResolver, TakesTheRestFromTheFirst) {
  const auto first = simple({{"worker", {"a", "b"}}},
                            {.master = "head",
                             .task = {.task_type = "worker", .task_id = 1, .rpc_layer = "grpc", .environment = "lab"},
                             .num_accelerators = 4});
  const auto second = simple({}, {.master = "other", .task = {.task_type = "ps"}, .num_accelerators = 8});
  const UnionResolver both({first, second});
  EXPECT_EQ(both.task(), (ClusterTask{"worker", 1}));
  EXPECT_EQ(both.master(), "head");
  EXPECT_EQ(both.master({.task_type = "worker", .task_id = 0}), "grpc://a");
  EXPECT_EQ(both.rpc_layer(), "grpc");
  EXPECT_EQ(both.environment(), "lab");
  EXPECT_EQ(both.num_accelerators(), 4);
}

TEST(UnionResolver, Case180_AnIndexOf0ThatIsSaidCounts) {
  const auto first = simple({{"worker", {"a", "b"}}}, {.task = {.task_type = "worker", .task_id = 1}});
  EXPECT_EQ(UnionResolver({first}, {.task_id = 0}).task_id(), 0);
  EXPECT_EQ(UnionResolver({first}, {.task_type = "ps", .rpc_layer = ""}).task_type(), "ps");
}

TEST(UnionResolver, NeedsResolvers) {
  test::expect_rejection(ErrorCode::invalid_argument, {"UnionResolver: resolvers is empty: give one"},
                         [] { const UnionResolver none({}); });
  test::expect_rejection(ErrorCode::invalid_argument, {"resolver 1 is a null pointer"}, [] {
    const UnionResolver none({simple({}), nullptr});
  });
}

}  // namespace
}  // namespace chorus
