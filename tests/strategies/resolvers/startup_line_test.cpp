// SPDX-License-Identifier: Apache-2.0
// The parts of startup_line that need no job: mpi_startup_line_test.cpp has the whole.
#include "resolvers/agreement.hpp"
#include "resolvers/startup_text.hpp"
#include "strategies/resolvers/rejection.hpp"

#include <chorus/strategies/simple_cluster_resolver.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus {
namespace {

SimpleClusterResolver resolver_of(const ClusterSpec::Jobs& jobs, const std::string& type, int id) {
  return SimpleClusterResolver(ClusterSpec(jobs), {.task = {.task_type = type, .task_id = id}});
}

TEST(StartupLine, SaysWhoWorksTogether) {
  EXPECT_EQ(startup_text("multi-worker mirrored",
                         resolver_of({{"worker", {"n1:1", "n1:2", "n2:1", "n2:2"}}, {"ps", {"n3:1"}}}, "worker", 0), 2),
            "chorus: multi-worker mirrored: 4 workers x 2 replicas = 8 replicas in sync on 2 hosts; this is worker 0; "
            "warning: the cluster's ps tasks take no part");
  EXPECT_EQ(startup_text("mirrored", resolver_of({{"chief", {"a"}}}, "chief", 0), 1),
            "chorus: mirrored: 1 worker x 1 replica = 1 replica in sync on 1 host; this is chief 0");
  EXPECT_EQ(startup_text("mirrored", resolver_of({{"chief", {"a"}}, {"worker", {"b"}}}, "evaluator", 0), 2),
            "chorus: mirrored: 1 worker x 2 replicas = 2 replicas in sync on 1 host; this is evaluator 0");
}

TEST(StartupLine, Case176_SaysSoWhereTheProgramIsAlone) {
  EXPECT_EQ(startup_text("multi-worker mirrored", SimpleClusterResolver{ClusterSpec()}, 2),
            "chorus: multi-worker mirrored: 1 worker x 2 replicas = 2 replicas in sync; no cluster is described, this "
            "process is alone");
}

TEST(StartupLine, FindsTheHostOfAnAddress) {
  EXPECT_EQ(host_of("n1"), "n1");
  EXPECT_EQ(host_of("n1:2222"), "n1");
  EXPECT_EQ(host_of("[::1]:2222"), "[::1]");
  EXPECT_EQ(host_of("fe80::1"), "fe80::1");
}

/// What two ranks report that fit together.
std::vector<RankReport> two_ranks() {
  const ClusterSpec::Jobs jobs = {{"worker", {"a", "b"}}};
  return {report_of(resolver_of(jobs, "worker", 0), 2), report_of(resolver_of(jobs, "worker", 1), 2)};
}

void expect_disagreement(const std::vector<RankReport>& reports, std::initializer_list<std::string_view> words) {
  test::expect_rejection(ErrorCode::invalid_argument, words, [&] { check_agreement(reports); });
}

TEST(Agreement, OfRanksThatFitTogether) {
  std::vector<RankReport> reports = two_ranks();
  EXPECT_NO_THROW(check_agreement(reports));
  std::swap(reports[0], reports[1]);
  EXPECT_NO_THROW(check_agreement(reports));
  EXPECT_NO_THROW(check_agreement(std::vector{report_of(SimpleClusterResolver{ClusterSpec()}, 1)}));
}

TEST(Agreement, NamesTheRanksThatDiffer) {
  std::vector<RankReport> reports = two_ranks();
  reports[1] = report_of(resolver_of({{"worker", {"a", "c"}}}, "worker", 1), 2);
  expect_disagreement(reports, {"ranks 0 and 1 know different clusters", "TF_CONFIG"});
  reports = two_ranks();
  reports[1].replicas = 3;
  expect_disagreement(reports, {"startup_line: rank 0 has 2 local replicas, but rank 1 has 3: give"});
  test::expect_rejection(ErrorCode::invalid_argument, {"MultiWorkerMirroredStrategy: rank 0 has 2 local replicas"},
                         [&] { check_agreement(reports, "MultiWorkerMirroredStrategy"); });
  reports = two_ranks();
  reports[1].id = 0;
  expect_disagreement(reports, {"ranks 0 and 1 are the same worker, number 0"});
  reports[1].id = 2;
  expect_disagreement(reports, {"rank 1 is number 2 of 2 workers"});
}

TEST(Agreement, MpiMustRunAsManyRanksAsThereAreWorkers) {
  std::vector<RankReport> reports = two_ranks();
  reports.pop_back();
  expect_disagreement(reports, {"2 workers", "MPI runs 1 rank", "mpirun -n 2", "MpiClusterResolver"});
  const RankReport alone = report_of(SimpleClusterResolver{ClusterSpec()}, 1);
  expect_disagreement({alone, alone}, {"1 worker", "MPI runs 2 ranks", "give an evaluator", "Communicator::split"});
}

TEST(Agreement, EveryRankGetsTheObjectionOfOne) {
  std::vector<RankReport> reports = two_ranks();
  reports[1] = report_of(resolver_of({{"worker", {"a", "b"}}}, "worker", 7), 2);
  expect_disagreement(reports, {"startup_line: on rank 1: worker_count: task 7", "give the task of this process"});
  reports[1] = report_of(resolver_of({{"worker", {"a", "b"}}}, "worker", 1), 0);
  expect_disagreement(reports, {"startup_line: on rank 1: local_replicas is 0: give 1 or more"});
  reports[1].object(std::string(5000, 'x'));
  expect_disagreement(reports, {"rank 1: xxx"});
}

TEST(Agreement, TellsClustersApart) {
  const auto checksum = [](const ClusterSpec::Jobs& jobs) {
    return report_of(resolver_of(jobs, "worker", 0), 1).cluster;
  };
  const auto one = checksum({{"worker", {"a", "b"}}});
  EXPECT_EQ(one, checksum({{"worker", {"a", "b"}}}));
  EXPECT_NE(one, checksum({{"worker", {"b", "a"}}}));
  EXPECT_NE(one, checksum({{"worker", {"a1b"}}}));
  EXPECT_NE(one, checksum({{"worker", {"a"}}, {"ps", {"b"}}}));
  EXPECT_NE(one, checksum({{"worker", std::map<int, std::string>{{0, "a"}, {2, "b"}}}}));
}

}  // namespace
}  // namespace chorus
