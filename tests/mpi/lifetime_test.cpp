// SPDX-License-Identifier: Apache-2.0
// Many communicators: alive together, destroyed in any order, and made and freed without a trace.

#include "mpi/footprint.hpp"
#include "mpi/job.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace chorus::test {
namespace {

void expect_that_it_works(const Communicator& comm) { ASSERT_EQ(allreduce(comm, 1, ReduceOp::sum), comm.size()); }

TEST(Lifetime, TwoThousandCommunicatorsLiveTogether) {
  const Footprint before = footprint();
  std::vector<Communicator> comms;
  for (int number = 0; number < 2000; ++number) {
    comms.push_back(from_mpi(MPI_COMM_WORLD));
    expect_that_it_works(comms.back());
  }
  EXPECT_LE(footprint().descriptors, before.descriptors + 8);
  for (const Communicator& comm : comms) expect_that_it_works(comm);
}

TEST(Lifetime, EveryRankAndEveryLaterCommunicatorHasThePaceOfTheFirst) {
  std::vector<Pace> paces;
  for (int number = 0; number < 2; ++number) {
    const Communicator comm = from_mpi(MPI_COMM_WORLD);
    expect_that_it_works(comm);
    const Pace& pace = comm.state().pace();
    EXPECT_EQ(allreduce(comm, pace.cached, ReduceOp::min), pace.cached);
    EXPECT_EQ(allreduce(comm, pace.cached, ReduceOp::max), pace.cached);
    paces.push_back(pace);
  }
  EXPECT_EQ(paces[0].cached, paces[1].cached);
  EXPECT_EQ(paces[0].streamed, paces[1].streamed);
  EXPECT_EQ(paces[0].system, paces[1].system);
}

TEST(Lifetime, OfMpisCommunicatorIsWatched) {
  MPI_Comm mpi_comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mpi_comm);
  const Communicator comm = from_mpi(mpi_comm);
  const Communicator another = from_mpi(mpi_comm);
  barrier(comm, {.algorithm = "native"});
  barrier(another, {.algorithm = "native"});
  MPI_Comm_free(&mpi_comm);
  for (const Communicator& each : {comm, another}) {
    expect_that_it_works(each);
    expect_error(outcome_of([&] { barrier(each, {.algorithm = "native"}); }), ErrorCode::invalid_argument,
                 {"barrier on rank", "from_mpi has been freed"});
    expect_error(outcome_of([&] { ibarrier(each, {.algorithm = "native"}).wait(); }), ErrorCode::broken, {});
  }
}

TEST(Lifetime, CommunicatorsAreDestroyedInAnotherOrderOnEachRank) {
  std::mt19937 random(static_cast<unsigned>(job_rank()));
  for (int repetition = 0; repetition < 10; ++repetition) {
    std::vector<Communicator> comms;
    for (int number = 0; number < 20; ++number) {
      comms.push_back(from_mpi(MPI_COMM_WORLD));
      expect_that_it_works(comms.back());
    }
    std::ranges::shuffle(comms, random);
    while (!comms.empty()) comms.pop_back();
  }
  expect_that_it_works(from_mpi(MPI_COMM_WORLD));
}

TEST(Lifetime, OfTwentyThousandCommunicatorsNothingStays) {
  const auto make_and_free = [](int communicators) {  // every tenth is used, which is when it gets its memory
    for (int number = 0; number < communicators; ++number) {
      const Communicator comm = from_mpi(MPI_COMM_WORLD);
      if (number % 10 == 0) expect_that_it_works(comm);
    }
  };
  make_and_free(2000);
  const Footprint before = footprint();
  make_and_free(20'000);
  EXPECT_LE(footprint().descriptors, before.descriptors);
  EXPECT_LT(footprint().resident_mb, before.resident_mb + 8);
}

// For minutes: run by meson test --suite soak.

TEST(LifetimeSoak, DISABLED_TenThousandCommunicatorsLiveTogether) {
  const Communicator world = Communicator::world();
  const Footprint before = footprint();
  std::vector<Communicator> comms;
  for (int number = 0; number < 10'000; ++number) {
    comms.push_back(world.dup());
    expect_that_it_works(comms.back());
  }
  EXPECT_LE(footprint().descriptors, before.descriptors + 8);
  EXPECT_LT(footprint().resident_mb, before.resident_mb + 400);
  for (const Communicator& comm : comms) expect_that_it_works(comm);
}

/// The parts of one test, so that none takes longer than a test may.
class LifetimeSoakPart : public testing::TestWithParam<int> {};

TEST_P(LifetimeSoakPart, DISABLED_OfAHundredThousandCommunicatorsNothingStays) {
  const Communicator world = Communicator::world();
  const auto make_and_free = [&](int communicators) {
    for (int number = 0; number < communicators; ++number) {
      const Communicator comm = number % 2 == 0 ? world.dup() : *world.split(0, -world.rank());
      if (number % 10 == 0) expect_that_it_works(comm);
    }
  };
  static const Footprint before = [&] {
    make_and_free(10'000);
    return footprint();
  }();
  make_and_free(100'000);
  EXPECT_LE(footprint().descriptors, before.descriptors);
  EXPECT_LT(footprint().resident_mb, before.resident_mb + 1);
}

INSTANTIATE_TEST_SUITE_P(OfAMillion, LifetimeSoakPart, testing::Range(0, 10));

}  // namespace
}  // namespace chorus::test
