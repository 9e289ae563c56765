// SPDX-License-Identifier: Apache-2.0
// SimpleClusterResolver, and with it what every resolver has of its base.
#include <chorus/strategies/simple_cluster_resolver.hpp>

#include "strategies/resolvers/rejection.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <type_traits>

namespace chorus {
namespace {

const ClusterSpec two_jobs({{"worker", {"a:1", "b:2"}}, {"ps", {"c:3"}}});

static_assert(!std::is_constructible_v<SimpleClusterResolver, const char*>);

TEST(SimpleClusterResolver, GivesTheAddressOfATaskOrElseTheMaster) {
  const SimpleClusterResolver resolver(two_jobs, {.master = "head:7", .task = {.rpc_layer = "grpc"}});
  EXPECT_EQ(resolver.cluster_spec(), two_jobs);
  EXPECT_EQ(resolver.master(), "head:7");
  EXPECT_EQ(resolver.master({.task_type = "worker"}), "head:7");
  EXPECT_EQ(resolver.master({.task_id = 1}), "head:7");
  EXPECT_EQ(resolver.master({.task_type = "worker", .task_id = 1}), "grpc://b:2");
  EXPECT_EQ(resolver.master({.task_type = "worker", .task_id = 1, .rpc_layer = "http"}), "http://b:2");
  test::expect_rejection(ErrorCode::invalid_argument, {"\"worker\" has no task 2"},
                         [&] { static_cast<void>(resolver.master({.task_type = "worker", .task_id = 2})); });
}

TEST(SimpleClusterResolver, Case179_WithoutALayerTheAddressHasNoPrefix) {
  const SimpleClusterResolver resolver(two_jobs);
  EXPECT_EQ(resolver.master({.task_type = "ps", .task_id = 0}), "c:3");
  EXPECT_EQ(resolver.master({.task_type = "ps", .task_id = 0, .rpc_layer = "grpc"}), "grpc://c:3");
  EXPECT_EQ(SimpleClusterResolver(two_jobs, {.task = {.rpc_layer = "grpc"}})
                .master({.task_type = "ps", .task_id = 0, .rpc_layer = ""}),
            "c:3");
}

TEST(SimpleClusterResolver, KnowsNothingThatIsNotSaid) {
  const SimpleClusterResolver resolver{ClusterSpec()};
  EXPECT_EQ(resolver.master(), "");
  EXPECT_EQ(resolver.task_type(), std::nullopt);
  EXPECT_EQ(resolver.task_id(), std::nullopt);
  EXPECT_EQ(resolver.task(), std::nullopt);
  EXPECT_EQ(resolver.rpc_layer(), "");
  EXPECT_EQ(resolver.environment(), "");
  EXPECT_EQ(resolver.num_accelerators(), std::nullopt);
}

TEST(SimpleClusterResolver, GivesWhatIsSaid) {
  const SimpleClusterResolver resolver(
      two_jobs, {.task = {.task_type = "ps", .task_id = 0, .environment = "lab"}, .num_accelerators = 0});
  EXPECT_EQ(resolver.task(), (ClusterTask{"ps", 0}));
  EXPECT_EQ(resolver.environment(), "lab");
  EXPECT_EQ(resolver.num_accelerators(), 0);
  test::expect_rejection(ErrorCode::invalid_argument, {"num_accelerators is -1"},
                         [] { const SimpleClusterResolver none(ClusterSpec(), {.num_accelerators = -1}); });
}

TEST(SimpleClusterResolver, TypeAndIndexCanBeSet) {
  SimpleClusterResolver resolver(two_jobs, {.task = {.task_type = "ps", .task_id = 0}});
  resolver.set_task_type("worker");
  resolver.set_task_id(1);
  EXPECT_EQ(resolver.task(), (ClusterTask{"worker", 1}));
  resolver.set_task_id({});
  EXPECT_EQ(resolver.task_id(), std::nullopt);
  test::expect_rejection(ErrorCode::invalid_argument, {"only the type, \"worker\"", "give its index"},
                         [&] { static_cast<void>(resolver.task()); });
  resolver.set_task_type({});
  resolver.set_task_id(3);
  test::expect_rejection(ErrorCode::invalid_argument, {"only the index, 3", "give its type"},
                         [&] { static_cast<void>(resolver.task()); });
}

}  // namespace
}  // namespace chorus
