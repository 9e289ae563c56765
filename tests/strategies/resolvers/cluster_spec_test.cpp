// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/cluster_spec.hpp>

#include "strategies/resolvers/rejection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace chorus {
namespace {

using testing::ElementsAre;

const ClusterSpec sparse({{"worker", std::map<int, std::string>{{1, "w1"}}}});

TEST(ClusterSpec, Case182_OfOneTaskWithIndex1) {
  EXPECT_EQ(sparse.num_tasks("worker"), 1);
  EXPECT_THAT(sparse.task_indices("worker"), ElementsAre(1));
  EXPECT_EQ(sparse.task_address("worker", 1), "w1");
  EXPECT_THAT(sparse.job_tasks("worker"), ElementsAre(std::nullopt, std::optional<std::string>("w1")));
  test::expect_rejection(ErrorCode::invalid_argument, {"task_address", "\"worker\" has no task 0", "its tasks: 1"},
                         [] { static_cast<void>(sparse.task_address("worker", 0)); });
}

TEST(ClusterSpec, OfSeveralJobs) {
  const ClusterSpec cluster({{"worker", {"a:1", "b:1"}}, {"ps", {"c:1"}}, {"idle", JobTasks()}});
  EXPECT_THAT(cluster.jobs(), ElementsAre("idle", "ps", "worker"));
  EXPECT_EQ(cluster.num_tasks(), 3);
  EXPECT_EQ(cluster.num_tasks("worker"), 2);
  EXPECT_EQ(cluster.num_tasks("idle"), 0);
  EXPECT_TRUE(cluster.job_tasks("idle").empty());
  EXPECT_EQ(cluster.task_address("worker", 1), "b:1");
  EXPECT_TRUE(cluster.has_job("ps"));
  EXPECT_FALSE(cluster.has_job("chief"));
  EXPECT_FALSE(cluster.empty());
  EXPECT_EQ(cluster, ClusterSpec({{"ps", {"c:1"}}, {"idle", JobTasks()}, {"worker", {"a:1", "b:1"}}}));
  EXPECT_NE(cluster, sparse);
}

TEST(ClusterSpec, OfNoTaskIsEmpty) {
  EXPECT_TRUE(ClusterSpec().empty());
  EXPECT_TRUE(ClusterSpec({{"worker", JobTasks()}}).empty());
  EXPECT_FALSE(sparse.empty());
}

TEST(ClusterSpec, NamesTheJobsThatThereAre) {
  const ClusterSpec cluster({{"worker", {"a:1"}}, {"ps", {"c:1"}}});
  test::expect_rejection(ErrorCode::invalid_argument, {"num_tasks", "no job \"wroker\"", "ps, worker"},
                         [&] { static_cast<void>(cluster.num_tasks("wroker")); });
  test::expect_rejection(ErrorCode::invalid_argument, {"job_tasks", "its jobs: none"},
                         [] { static_cast<void>(ClusterSpec().job_tasks("worker")); });
  test::expect_rejection(ErrorCode::invalid_argument, {"task_indices"},
                         [&] { static_cast<void>(cluster.task_indices("chief")); });
}

TEST(ClusterSpec, RejectsWhatIsNoTask) {
  const auto make = [](ClusterSpec::Jobs jobs) { return [jobs] { static_cast<void>(ClusterSpec(jobs)); }; };
  test::expect_rejection(ErrorCode::invalid_argument, {"ClusterSpec: the name of a job is empty: give it one"},
                         make({{"", {"a"}}}));
  test::expect_rejection(ErrorCode::invalid_argument, {"task 1 of job \"ps\"", "address is empty"},
                         make({{"ps", {"a", ""}}}));
  test::expect_rejection(ErrorCode::invalid_argument, {"task -1 of job \"ps\"", "below 0"},
                         make({{"ps", std::map<int, std::string>{{-1, "a"}}}}));
}

TEST(JobTasks, AreDenseWithoutAGap) {
  using Indices = std::map<int, std::string>;
  EXPECT_TRUE(JobTasks().dense());
  EXPECT_TRUE(JobTasks({"a", "b"}).dense());
  EXPECT_TRUE(JobTasks(Indices{{0, "a"}, {1, "b"}}).dense());
  EXPECT_FALSE(JobTasks(Indices{{1, "a"}, {2, "b"}}).dense());
  EXPECT_FALSE(JobTasks(Indices{{0, "a"}, {2, "b"}}).dense());
  EXPECT_FALSE(JobTasks(Indices{{-1, "a"}, {0, "b"}}).dense());
}

}  // namespace
}  // namespace chorus
