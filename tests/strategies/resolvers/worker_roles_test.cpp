// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/worker_roles.hpp>

#include "strategies/resolvers/rejection.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace chorus {
namespace {

const ClusterSpec without_chief({{"worker", {"a", "b", "c"}}, {"ps", {"d"}}});
const ClusterSpec with_chief({{"chief", {"z"}}, {"worker", {"a", "b"}}, {"evaluator", {"e"}}});

void expect_bad(const ClusterSpec& cluster, const std::optional<ClusterTask>& task,
                std::initializer_list<std::string_view> words) {
  const auto code = ErrorCode::invalid_argument;
  test::expect_rejection(code, {"is_chief"}, [&] { static_cast<void>(is_chief(cluster, task)); });
  test::expect_rejection(code, words, [&] { static_cast<void>(is_chief(cluster, task)); });
  test::expect_rejection(code, words, [&] { static_cast<void>(worker_count(cluster, task)); });
  test::expect_rejection(code, words, [&] { static_cast<void>(id_in_cluster(cluster, task)); });
  test::expect_rejection(code, words, [&] { static_cast<void>(collective_leader(cluster, task)); });
}

TEST(WorkerRoles, Case178_WhatIsNotInTheClusterIsAnError) {
  expect_bad(without_chief, ClusterTask{"worker", 3}, {"task 3 of type worker", "has 3"});
  expect_bad(without_chief, ClusterTask{"worker", -1}, {"task -1"});
  expect_bad(without_chief, ClusterTask{"chief", 0}, {"task 0 of type chief", "has 0"});
  expect_bad(without_chief, ClusterTask{"evaluator", 1}, {"task 1 of type evaluator"});
  expect_bad(without_chief, ClusterTask{"foo", 0}, {"\"foo\"", "give chief, worker, ps or evaluator"});
  expect_bad(without_chief, std::nullopt, {"not known", "type and index"});
  expect_bad(ClusterSpec(), ClusterTask{"foo", 0}, {"\"foo\""});
}

TEST(WorkerRoles, Case178_AServerComputesWithNobody) {
  const ClusterTask ps{"ps", 0};
  test::expect_rejection(ErrorCode::invalid_argument, {"worker_count", "type ps"},
                         [&] { static_cast<void>(worker_count(without_chief, ps)); });
  test::expect_rejection(ErrorCode::invalid_argument, {"id_in_cluster", "type ps"},
                         [&] { static_cast<void>(id_in_cluster(without_chief, ps)); });
  EXPECT_FALSE(is_chief(without_chief, ps));
}

TEST(WorkerRoles, ClustersThatCannotBe) {
  expect_bad(ClusterSpec({{"chief", {"a", "b"}}}), ClusterTask{"chief", 0},
             {"2 tasks of type chief", "give it one at most"});
  expect_bad(ClusterSpec({{"evaluator", {"a", "b"}}}), ClusterTask{"evaluator", 0}, {"2 tasks of type evaluator"});
  expect_bad(ClusterSpec({{"worker", {"a"}}, {"foo", {"b"}}}), ClusterTask{"worker", 0}, {"a job \"foo\""});
}

TEST(WorkerRoles, WithoutAChiefWorker0IsIt) {
  EXPECT_TRUE(is_chief(without_chief, ClusterTask{"worker", 0}));
  EXPECT_FALSE(is_chief(without_chief, ClusterTask{"worker", 1}));
  EXPECT_EQ(worker_count(without_chief, ClusterTask{"worker", 1}), 3);
  EXPECT_EQ(id_in_cluster(without_chief, ClusterTask{"worker", 2}), 2);
  EXPECT_EQ(collective_leader(without_chief, ClusterTask{"worker", 2}), (ClusterTask{"worker", 0}));
  EXPECT_TRUE(is_chief(ClusterSpec({{"chief", JobTasks()}, {"worker", {"a"}}}), ClusterTask{"worker", 0}));
}

TEST(WorkerRoles, WithAChiefItComesFirst) {
  EXPECT_TRUE(is_chief(with_chief, ClusterTask{"chief", 0}));
  EXPECT_FALSE(is_chief(with_chief, ClusterTask{"worker", 0}));
  EXPECT_EQ(worker_count(with_chief, ClusterTask{"worker", 1}), 3);
  EXPECT_EQ(id_in_cluster(with_chief, ClusterTask{"chief", 0}), 0);
  EXPECT_EQ(id_in_cluster(with_chief, ClusterTask{"worker", 1}), 2);
  EXPECT_EQ(collective_leader(with_chief, ClusterTask{"worker", 1}), (ClusterTask{"chief", 0}));
}

TEST(WorkerRoles, AnEvaluatorIsAClusterOfItsOwn) {
  const ClusterTask evaluator{"evaluator", 0};
  for (const ClusterSpec& cluster : {with_chief, without_chief}) {
    EXPECT_TRUE(is_chief(cluster, evaluator));
    EXPECT_EQ(worker_count(cluster, evaluator), 1);
    EXPECT_EQ(id_in_cluster(cluster, evaluator), 0);
    EXPECT_EQ(collective_leader(cluster, evaluator), std::nullopt);
  }
}

TEST(WorkerRoles, Case176_InAnEmptyClusterTheProgramIsAlone) {
  for (const auto& task : {std::optional<ClusterTask>(), std::optional(ClusterTask{"worker", 0})}) {
    EXPECT_TRUE(is_chief(ClusterSpec(), task));
    EXPECT_EQ(worker_count(ClusterSpec(), task), 1);
    EXPECT_EQ(id_in_cluster(ClusterSpec(), task), 0);
    EXPECT_EQ(collective_leader(ClusterSpec(), task), std::nullopt);
  }
}

}  // namespace
}  // namespace chorus
