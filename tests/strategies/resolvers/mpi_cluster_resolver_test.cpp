// SPDX-License-Identifier: Apache-2.0
// What needs a job: MpiClusterResolver, and the start-up line as a collective. Started with 3 ranks.
#include "mpi/job.hpp"
#include "strategies/resolvers/variables_given.hpp"

#include <chorus/interop/mpi.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/mpi_cluster_resolver.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/simple_cluster_resolver.hpp>
#include <chorus/strategies/startup_line.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

namespace chorus::test {
namespace {

const EnvironmentVariables none = variables({});

class MpiResolver : public testing::Test {
 protected:
  Communicator all_ = from_mpi(MPI_COMM_WORLD);
};

TEST_F(MpiResolver, EachRankIsAWorkerOnItsHost) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const MpiClusterResolver resolver(all_);
  EXPECT_EQ(resolver.cluster_spec(), ClusterSpec({{"worker", {host.data(), host.data(), host.data()}}}));
  EXPECT_EQ(resolver.task(), (ClusterTask{"worker", job_rank()}));
  EXPECT_EQ(is_chief(resolver), job_rank() == 0);
  EXPECT_EQ(worker_count(resolver), job_size());
  EXPECT_EQ(id_in_cluster(resolver), job_rank());
  EXPECT_EQ(resolver.master(), host.data());
  EXPECT_EQ(resolver.num_accelerators(), std::nullopt);
}

TEST_F(MpiResolver, HostsHaveNamesOfAnyLength) {
  const std::array<std::string, 3> hosts = {"n1", "a-host-with-a-longer-name", "n1"};
  const MpiClusterResolver resolver(all_, {.host = hosts.at(job_rank()), .num_accelerators = 2});
  EXPECT_EQ(resolver.cluster_spec(), ClusterSpec({{"worker", {hosts[0], hosts[1], hosts[2]}}}));
  EXPECT_EQ(resolver.num_accelerators(), 2);
  EXPECT_EQ(startup_line("multi-worker mirrored", resolver, all_, 2, none),
            "chorus: multi-worker mirrored: 3 workers x 2 replicas = 6 replicas in sync on 2 hosts; this is worker " +
                std::to_string(job_rank()));
}

TEST_F(MpiResolver, OfASubcommunicatorHasItsRanks) {
  const auto others = all_.split(job_rank() > 0 ? std::optional(0) : std::nullopt);
  if (!others) return;
  const MpiClusterResolver resolver(*others);
  EXPECT_EQ(worker_count(resolver), 2);
  EXPECT_EQ(resolver.task_id(), job_rank() - 1);
}

/// Ranks 0, 1, 2 are worker 1, worker 0 and the chief.
TEST_F(MpiResolver, WorkersAreNumberedAsInTheClusterWithTheChiefFirst) {
  const std::array<ClusterTask, 3> tasks = {{{"worker", 1}, {"worker", 0}, {"chief", 0}}};
  const ClusterTask own = tasks.at(job_rank());
  const auto resolver = std::make_shared<SimpleClusterResolver>(
      ClusterSpec({{"chief", {"a:1"}}, {"worker", {"b:1", "c:1"}}}),
      SimpleResolverOptions{.task = {.task_type = own.type, .task_id = own.id}});
  MultiWorkerMirroredStrategy strategy(all_, {.cluster_resolver = resolver});
  const auto ids = strategy.run([] { return get_replica_context()->replica_id_in_sync_group(); });
  EXPECT_EQ(ids[0], 2 - job_rank());
  EXPECT_EQ(ids[0], id_in_cluster(*resolver));
  EXPECT_EQ(strategy.extended().should_checkpoint(), is_chief(*resolver));
}

TEST_F(MpiResolver, ThisLauncherIsTheRightOne) {
  EXPECT_NE(startup_line("mirrored", MpiClusterResolver(all_), all_, 1), "");
}

TEST_F(MpiResolver, ARankAloneOnPurposeIsNoMistakeOfTheLauncher) {
  const OwnedComm alone(job_rank(), 0);
  const Communicator one = from_mpi(alone.get());
  const auto launched = variables({{"SLURM_STEP_NUM_TASKS", "3"}});
  EXPECT_NE(startup_line("mirrored", MpiClusterResolver(one), one, 1, launched), "");
  EXPECT_EQ(MultiWorkerMirroredStrategy(one).num_replicas_in_sync(), 1) << "of each, under this launcher";
}

TEST_F(MpiResolver, EveryRankIsToldWhatIsWrongWithOne) {
  const SimpleClusterResolver twice(ClusterSpec({{"worker", {"a", "b", "c"}}}),
                                    {.task = {.task_type = "worker", .task_id = job_rank() % 2}});
  expect_error(outcome_of([&] { static_cast<void>(startup_line("mirrored", twice, all_, 1, none)); }),
               ErrorCode::invalid_argument, {"ranks 0 and 2 are the same worker, number 0"});
  const SimpleClusterResolver beyond(ClusterSpec({{"worker", {"a", "b", "c"}}}),
                                     {.task = {.task_type = "worker", .task_id = job_rank() == 1 ? 9 : job_rank()}});
  expect_error(outcome_of([&] { static_cast<void>(startup_line("mirrored", beyond, all_, 1, none)); }),
               ErrorCode::invalid_argument, {"rank 1", "task 9"});
  expect_error(outcome_of([&] {
                 const MpiClusterResolver resolver(all_);
                 static_cast<void>(startup_line("mirrored", resolver, all_, 1 + job_rank() / 2, none));
               }),
               ErrorCode::invalid_argument,
               {"startup_line: rank 0 has 1 local replica, but rank 2 has 2", "as many devices on every rank"});
  EXPECT_NE(startup_line("mirrored", MpiClusterResolver(all_), all_, 1, none), "");
}

}  // namespace
}  // namespace chorus::test
