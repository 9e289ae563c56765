// SPDX-License-Identifier: Apache-2.0
// Communicators made of communicators.

#include "mpi/job.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

/// The job's ranks in `comm`, in its order.
std::vector<int> members_of(const Communicator& comm) {
  std::vector<int> members(static_cast<std::size_t>(comm.size()));
  allgather(comm, std::vector<int>{job_rank()}, members);
  return members;
}

class Split : public testing::Test {
 protected:
  Communicator all_ = from_mpi(MPI_COMM_WORLD);
};

TEST_F(Split, GivesTheRanksOfAColorInTheOrderOfTheirKeys) {
  const auto part = all_.split(job_rank() % 3, -job_rank());
  ASSERT_TRUE(part);
  std::vector<int> expected;
  for (int rank = job_size() - 1; rank >= 0; --rank) {
    if (rank % 3 == job_rank() % 3) expected.push_back(rank);
  }
  EXPECT_EQ(members_of(*part), expected);
}

TEST_F(Split, CutsAcrossTheNodes) {
  barrier(all_);
  const std::vector<int>& nodes = all_.state().transport().nodes();
  const auto part = all_.split(job_rank() % 3, (5 * job_rank()) % job_size());
  const std::vector<int> members = members_of(*part);
  const std::vector<int>& nodes_of_part = part->state().transport().nodes();
  const auto on_one = [](const std::vector<int>& of, int left, int right) {
    return of.empty() || of[static_cast<std::size_t>(left)] == of[static_cast<std::size_t>(right)];
  };
  for (int left = 0; left < part->size(); ++left) {
    for (int right = 0; right < part->size(); ++right) {
      const bool share =
          on_one(nodes, members[static_cast<std::size_t>(left)], members[static_cast<std::size_t>(right)]);
      EXPECT_EQ(on_one(nodes_of_part, left, right), share) << left << " and " << right;
    }
  }
}

TEST_F(Split, IsToldWhatTheNetworkTakes) {
  barrier(all_);
  const NetworkPace network = all_.state().network();
  EXPECT_EQ(network.known(), !all_.state().transport().nodes().empty());
  std::vector<NetworkPace> of_all(static_cast<std::size_t>(job_size()));
  allgather(all_, std::vector{network}, of_all);
  for (const NetworkPace& other : of_all) EXPECT_EQ(other, network);
  const auto part = all_.split(0, -job_rank());
  barrier(*part);
  EXPECT_EQ(part->state().network(), network) << "measured once";
}

TEST_F(Split, NamesItsRanksInErrorsByThoseOfTheWorldToo) {
  const auto part = all_.split(0, -job_rank());
  std::vector<int> data(1);
  const std::string who = job_rank() == part->rank()
                              ? fmt::format("on rank {}:", part->rank())
                              : fmt::format("on rank {} (rank {} of MPI_COMM_WORLD)", part->rank(), job_rank());
  expect_error(outcome_of([&] { bcast(*part, data, job_size()); }), ErrorCode::invalid_argument, {who});
}

TEST_F(Split, LeavesOutWhoGivesNoColor) {
  const bool in = job_rank() % 2 == 1;
  const auto part = all_.split(in ? std::optional(7) : std::nullopt);
  ASSERT_EQ(part.has_value(), in);
  if (part) {
    EXPECT_EQ(part->size(), job_size() / 2);
    EXPECT_EQ(allreduce(*part, 1, ReduceOp::sum), job_size() / 2);
  }
}

TEST_F(Split, OfASplitWorksAndOutlivesIt) {
  std::optional<Communicator> quarter;
  {
    const auto half = all_.split(job_rank() % 2);
    quarter = half->split(half->rank() % 2);
  }
  std::vector<int> expected;
  for (int rank = 0; rank < job_size(); ++rank) {
    if (rank % 4 == job_rank() % 4) expected.push_back(rank);
  }
  EXPECT_EQ(members_of(*quarter), expected);
}

TEST_F(Split, HasTheSettingsOfTheOneItIsMadeOf) {
  const bool is_first = job_rank() == 0;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("chorus_split_{}", getpid());
  if (is_first) std::ofstream(path) << "{\"schema\": 1}";
  const ScopedVariable file("CHORUS_TUNING_FILE", path.string());  // a file that rank 0 alone has
  const ScopedVariable timeout("CHORUS_TIMEOUT", is_first ? "77" : "soon");
  barrier(all_);
  std::filesystem::remove(path);
  const std::string agreed = all_.state().settings().to_json();
  EXPECT_EQ(all_.state().settings().timeout, std::chrono::seconds(77));
  EXPECT_EQ(all_.state().settings().tuning.text, "{\"schema\": 1}");
  std::vector<Communicator> made = {all_.dup(), all_.node(), *all_.split(0, -job_rank())};
  if (const auto leaders = all_.leaders()) made.push_back(*leaders);
  if (const auto others = all_.split(is_first ? std::nullopt : std::optional(0))) {
    made.push_back(others->dup());
    made.push_back(*others);
  }
  for (const Communicator& comm : made) {
    barrier(comm);
    EXPECT_EQ(comm.state().settings().to_json(), agreed);
  }
  const OwnedComm reversed(0, -job_rank());
  expect_error(outcome_of([&] { barrier(from_mpi(reversed.get())); }), ErrorCode::invalid_environment,
               {"CHORUS_TIMEOUT=soon"});
}

TEST_F(Split, ADuplicateHasItsOwnOrderOfCalls) {
  const Communicator twin = all_.dup();
  ASSERT_EQ(members_of(twin), members_of(all_));
  int here = 1;
  int there = 2;
  Request first = iallreduce(all_, std::span(&here, 1), ReduceOp::sum);
  Request second = iallreduce(twin, std::span(&there, 1), ReduceOp::sum);
  (job_rank() % 2 == 0 ? second : first).wait();
  first.wait();
  second.wait();
  EXPECT_EQ(here, job_size());
  EXPECT_EQ(there, 2 * job_size());
}

TEST_F(Split, ASubsetHasTheOrderOfItsList) {
  std::vector<int> ranks;
  for (int rank = job_size() - 1; rank >= 0; rank -= 2) ranks.push_back(rank);
  const auto part = all_.subset(ranks);
  ASSERT_EQ(part.has_value(), std::ranges::count(ranks, job_rank()) == 1);
  if (part) {
    EXPECT_EQ(members_of(*part), ranks);
  }
}

TEST_F(Split, ASubsetIsOfRanksOnceEach) {
  for (const std::vector<int>& wrong : {std::vector<int>{0, 0}, {-1}, {0, job_size()}}) {
    expect_error(outcome_of([&] { static_cast<void>(all_.subset(wrong)); }), ErrorCode::invalid_argument,
                 {"subset", "argument ranks", std::to_string(wrong.back())});
  }
}

TEST_F(Split, NodesAndLeadersCoverTheRanks) {
  const Communicator node = all_.node();
  const auto leaders = all_.leaders();
  const std::vector<int> mine = members_of(node);
  EXPECT_TRUE(std::ranges::is_sorted(mine));
  EXPECT_EQ(leaders.has_value(), node.rank() == 0);
  if (leaders) {
    EXPECT_EQ(allreduce(*leaders, node.size(), ReduceOp::sum), job_size());
  }
  barrier(node);
  EXPECT_TRUE(node.state().transport().shared() != nullptr || node.size() == 1);
  EXPECT_EQ(node.shares_memory(), node.state().transport().shared() != nullptr);
  EXPECT_EQ(all_.shares_memory(), node.shares_memory() && node.size() == all_.size());
}

TEST_F(Split, EveryCollectiveRunsOnAPart) {
  const auto part = all_.split(job_rank() < 3 ? 0 : 1);
  const int ranks = part->size();
  for (const std::size_t count : {1, 1000, 100'000}) {
    std::vector<double> data(count, part->rank() + 1);
    allreduce(*part, data, ReduceOp::sum);
    ASSERT_EQ(data, std::vector<double>(count, ranks * (ranks + 1) / 2));
    std::vector<double> block(count);
    reduce_scatter_block(*part, std::vector<double>(count * static_cast<std::size_t>(ranks), 1), block, ReduceOp::sum);
    ASSERT_EQ(block, std::vector<double>(count, ranks));
    bcast(*part, data, ranks - 1);
    reduce(*part, data, ReduceOp::max, 0);
    barrier(*part);
  }
}

/// That MPI carries out what names it, also in requests and of averages.
void expect_native_calls(const Communicator& comm) {
  const CollectiveOptions native{.algorithm = "native"};
  const int sum = comm.size() * (comm.size() + 1) / 2;
  std::vector<int> numbers(1000, comm.rank() + 1);
  allreduce(comm, numbers, ReduceOp::sum, native);
  EXPECT_EQ(numbers, std::vector<int>(1000, sum));
  std::vector<double> first(10, comm.rank());
  std::vector<double> second(10, 1);
  Request averages = iallreduce(comm, first, ReduceOp::average, native);
  Request sums = iallreduce(comm, second, ReduceOp::sum, native);
  sums.wait();
  averages.wait();
  EXPECT_EQ(first, std::vector<double>(10, (comm.size() - 1) / 2.0));
  EXPECT_EQ(second, std::vector<double>(10, comm.size()));
  std::vector<double> prefix(10, comm.rank() + 1);
  scan(comm, prefix, ReduceOp::average, native);
  EXPECT_EQ(prefix, std::vector<double>(10, (comm.rank() + 2) / 2.0));
  std::vector<double> mean(10, comm.rank() + 1);
  reduce(comm, mean, ReduceOp::average, 0, native);
  if (comm.rank() == 0) {
    EXPECT_EQ(mean, std::vector<double>(10, (comm.size() + 1) / 2.0));
  }
  int root = comm.rank();
  bcast(comm, std::span(&root, 1), comm.size() - 1, native);
  EXPECT_EQ(root, comm.size() - 1);
}

TEST_F(Split, MpiCarriesOutWhatNamesItOnEveryPart) {
  expect_native_calls(all_.dup());
  const auto part = all_.split(job_rank() % 3, -job_rank());
  expect_native_calls(*part);
  expect_native_calls(part->dup());
  expect_native_calls(*part);
  if (const auto ranks = all_.subset(std::vector{job_size() - 1, 0})) expect_native_calls(*ranks);
  const Communicator alone = *all_.split(job_rank());
  expect_native_calls(alone);
}

TEST_F(Split, MpisCommunicatorsAreFreedWithTheOwnersAlsoOfBrokenOnes) {
  const Communicator alone = *all_.split(job_rank());
  for (int repetition = 0; repetition < 2500; ++repetition) {  // MPICH has 2048 at a time
    const Communicator twin = alone.dup();
    barrier(twin, {.algorithm = "native"});
    if (repetition % 2 == 0) twin.revoke("no longer wanted");
  }
}

TEST_F(Split, TheFirstCallByMpiIsToldFromOthers) {
  if (all_.size() == 1) return;
  const Communicator comm = all_.dup();
  const Outcome outcome = outcome_of(
      [&] { static_cast<void>(allreduce(comm, 1, ReduceOp::sum, {.algorithm = job_rank() == 0 ? "native" : ""})); });
  if (comm.state().transport().shared() == nullptr) return;  // between nodes nothing is compared unless asked for
  expect_error(outcome, ErrorCode::mismatch, {"rank 0: the first call by native", "allreduce of 1 int32"});
}

TEST_F(Split, IsFreedWithoutATrace) {
  for (int repetition = 0; repetition < 2000; ++repetition) {
    const auto part = all_.split(job_rank() % 2);
    if (repetition % 100 == 0) {
      ASSERT_EQ(allreduce(*part, 1, ReduceOp::sum), part->size());
    }
  }
}

/// That the ranks are told apart which make communicators in another way than rank 0, also on other nodes.
void expect_disagreement(const Communicator& all, const std::function<void(const Communicator&)>& of_rank_0,
                         const std::function<void(const Communicator&)>& of_others,
                         const std::vector<std::string>& words) {
  const Communicator comm = all.dup();
  const Outcome outcome = outcome_of([&] { (job_rank() == 0 ? of_rank_0 : of_others)(comm); });
  expect_error(outcome, ErrorCode::mismatch, words);
  expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::broken, {"disagree"});
}

TEST_F(Split, DifferentWaysToMakeCommunicatorsAreToldApart) {
  if (all_.size() == 1) return;
  const auto subset = [](std::vector<int> ranks) {
    return [ranks](const Communicator& comm) { static_cast<void>(comm.subset(ranks)); };
  };
  const auto node = [](const Communicator& comm) { static_cast<void>(comm.node()); };
  const auto leaders = [](const Communicator& comm) { static_cast<void>(comm.leaders()); };
  const auto dup = [](const Communicator& comm) { static_cast<void>(comm.dup()); };
  const auto split = [](const Communicator& comm) { static_cast<void>(comm.split(0)); };
  expect_disagreement(all_, subset({0, 1}), subset({1, 0}), {"rank 0: subset of ranks 0, 1", ": subset of ranks 1, 0"});
  expect_disagreement(all_, subset({0}), subset({0, 1}), {"rank 0: subset of rank 0", ": subset of ranks 0, 1"});
  expect_disagreement(all_, node, leaders, {"rank 0: node\n", ": leaders\n"});
  expect_disagreement(all_, dup, split, {"rank 0: dup\n", ": split\n"});
}

TEST_F(Split, IsToldFromAnotherCall) {
  if (all_.size() == 1) return;
  const Communicator comm = all_.dup();
  const Outcome outcome = outcome_of([&] {
    if (job_rank() == 0) {
      static_cast<void>(comm.split(0));
    } else {
      static_cast<void>(allreduce(comm, 1, ReduceOp::sum));
    }
  });
  if (comm.state().transport().shared() == nullptr) return;  // between nodes nothing is compared unless asked for
  expect_error(outcome, ErrorCode::mismatch, {"rank 0: split", "allreduce of 1 int32"});
}

}  // namespace
}  // namespace chorus::test
