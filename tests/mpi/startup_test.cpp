// SPDX-License-Identifier: Apache-2.0
// MPI's beginning and end. MPI runs once in a process, so each launch runs one of these tests.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

int most_threads = MPI_THREAD_MULTIPLE;

}  // namespace

/// In place of MPI's, for all of this process.
extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return PMPI_Init_thread(argc, argv, std::min(required, most_threads), provided);
}

namespace chorus::test {
namespace {

void expect_that_it_works(const Communicator& comm) {
  EXPECT_EQ(allreduce(comm, comm.rank() + 1, ReduceOp::sum), comm.size() * (comm.size() + 1) / 2);
  std::vector<double> many(50'000, 1);
  iallreduce(comm, many, ReduceOp::sum).wait();
  EXPECT_EQ(many, std::vector<double>(many.size(), comm.size()));
}

/// MPI as an application starts it that gets at least `level`.
void start_mpi(int level) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  ASSERT_GE(provided, level);
}

void expect_that_it_works_under(int level) {
  start_mpi(level);
  {
    const Environment environment;
    expect_that_it_works(Communicator::world());
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  EXPECT_EQ(finalized, 0) << "it belongs to the application";
  expect_that_it_works(Communicator::world());
  MPI_Finalize();
}

TEST(Startup, OfTheApplicationSingle) { expect_that_it_works_under(MPI_THREAD_SINGLE); }
TEST(Startup, OfTheApplicationFunneled) { expect_that_it_works_under(MPI_THREAD_FUNNELED); }
TEST(Startup, OfTheApplicationSerialized) { expect_that_it_works_under(MPI_THREAD_SERIALIZED); }

TEST(Startup, OfTheApplicationMultipleWithThreadsOnCommunicatorsOfTheirOwn) {
  start_mpi(MPI_THREAD_MULTIPLE);
  {
    std::vector<Communicator> comms;
    std::vector<OwnedComm*> mpi_comms;
    for (int thread = 0; thread < 3; ++thread) {
      mpi_comms.push_back(new OwnedComm(0, thread % 2 == 0 ? job_rank() : -job_rank()));
      comms.push_back(from_mpi(mpi_comms.back()->get()));
    }
    std::vector<std::thread> threads;
    for (const Communicator& comm : comms) {
      threads.emplace_back([&comm] {
        for (int repetition = 0; repetition < 200; ++repetition) expect_that_it_works(comm);
      });
    }
    for (std::thread& thread : threads) thread.join();
    comms.clear();
    for (const OwnedComm* mpi_comm : mpi_comms) delete mpi_comm;
  }
  MPI_Finalize();
}

TEST(Startup, OfTheApplicationMultipleWithThreadsThatWantTheWorldAtOnce) {
  start_mpi(MPI_THREAD_MULTIPLE);
  {
    std::vector<const detail::CommunicatorState*> worlds(4);
    std::vector<std::thread> threads;
    for (const detail::CommunicatorState*& world : worlds) {
      threads.emplace_back([&world] { world = &Communicator::world().state(); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::ranges::count(worlds, &Communicator::world().state()), 4);
    expect_that_it_works(Communicator::world());
  }
  MPI_Finalize();
}

TEST(Startup, OfTheApplicationSerializedNoticesTwoThreadsAtATime) {
  start_mpi(MPI_THREAD_SERIALIZED);
  int level = 0;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI grants more than it is asked for";
  const Communicator comm = Communicator::world();
  const Communicator other = from_mpi(MPI_COMM_WORLD);
  expect_that_it_works(comm);
  expect_that_it_works(other);
  Request request;
  if (job_rank() == 0) {
    request = ibarrier(other);  // to which rank 1 does not come, nor to the barrier
    std::thread first([&comm] {
      Outcome outcome;
      do {
        outcome = outcome_of([&] { barrier(comm, {.timeout = std::chrono::milliseconds(500)}); });
      } while (outcome.code == ErrorCode::invalid_argument);  // where it came second
      expect_error(outcome, ErrorCode::timeout, {});
    });
    Outcome outcome;
    while (!outcome.code) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that hardly ever both come at the same moment
      outcome = outcome_of([&] { static_cast<void>(request.test()); });
    }
    first.join();
    expect_error(outcome, ErrorCode::invalid_argument,
                 {"barrier on rank 0: another thread is inside chorus", "start MPI with it"});
  }
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 waits for a rank that is there
  MPI_Finalize();
}

TEST(Startup, OfTheEnvironment) {
  {
    const Environment environment;
    const Environment another;
    int initialized = 0;
    MPI_Initialized(&initialized);
    EXPECT_NE(initialized, 0);
    expect_that_it_works(Communicator::world());
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  EXPECT_NE(finalized, 0);
}

/// The program goes on with less, and MPI ends as ever.
TEST(Startup, OfTheEnvironmentWhereMpiRefusesManyThreads) {
  most_threads = MPI_THREAD_SERIALIZED;
  expect_error(outcome_of([] { const Environment environment(ThreadLevel::multiple); }), ErrorCode::not_supported,
               {"Environment on rank", "MPI_THREAD_MULTIPLE"});
  {
    const Environment environment;
    const Environment another;
    expect_that_it_works(Communicator::world());
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  EXPECT_NE(finalized, 0);
}

/// Nor does a child that the program has forked, and that leaves the scope, too, end it.
TEST(Startup, OfTheEnvironmentOutlivesAChild) {
  std::optional<Environment> environment(std::in_place);
  expect_that_it_works(Communicator::world());
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    environment.reset();
    std::_Exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_that_it_works(Communicator::world());
}

/// Rank 1 comes to the world when rank 0 has given it up, which then goes on with what it has begun.
TEST(Startup, OfAWorldToWhichARankComesLate) {
  const Environment environment;
  char told = 0;
  if (job_rank() == 0) {
    const ScopedVariable timeout("CHORUS_TIMEOUT", "0.5");
    expect_error(outcome_of([] { static_cast<void>(Communicator::world()); }), ErrorCode::timeout,
                 {"Communicator::world on rank 0: it has waited 0.5 s", "CHORUS_TIMEOUT"});
    MPI_Send(&told, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&told, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  expect_that_it_works(Communicator::world());
}

TEST(Startup, OfTheEnvironmentForManyThreads) {
  const Environment environment(ThreadLevel::multiple);
  const Communicator comm = Communicator::world();
  const Communicator other = comm.dup();
  std::thread beside([&other] {
    for (int repetition = 0; repetition < 50; ++repetition) expect_that_it_works(other);
  });
  for (int repetition = 0; repetition < 50; ++repetition) expect_that_it_works(comm);
  beside.join();
}

TEST(Startup, OfTheApplicationForManyThreads) {
  start_mpi(MPI_THREAD_SERIALIZED);
  int level = 0;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI grants more than it is asked for";
  expect_error(outcome_of([] { const Environment environment(ThreadLevel::multiple); }), ErrorCode::not_supported,
               {"Environment on rank", "MPI_THREAD_MULTIPLE", "MPI_Init_thread"});
  { const Environment environment(ThreadLevel::serialized); }
  expect_that_it_works(Communicator::world());
  MPI_Finalize();
}

/// A request ends while the program does nothing but look at its own memory. Other calls go on beside.
TEST(Startup, OfAProgressThread) {
  ASSERT_EQ(setenv("CHORUS_PROGRESS_THREAD", "1", 1), 0);
  const Environment environment;
  const Communicator world = Communicator::world();
  expect_that_it_works(world);
  std::vector<double> many(500'000, 1);
  const std::atomic_ref<double> last(many.back());
  Request request = iallreduce(world, many, ReduceOp::sum);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (last.load() != world.size() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(last.load(), world.size()) << "nobody made progress";
  request.wait();
  EXPECT_EQ(many, std::vector<double>(many.size(), world.size()));

  const Communicator other = world.dup();
  std::vector<std::vector<double>> vectors(20, std::vector<double>(10'000, 1));
  std::vector<Request> requests;
  for (std::vector<double>& vector : vectors) {
    requests.push_back(iallreduce(world, vector, ReduceOp::sum));
    expect_that_it_works(other);
  }
  expect_that_it_works(world);
  wait_all(requests);
  for (const std::vector<double>& vector : vectors) EXPECT_EQ(vector, std::vector<double>(10'000, world.size()));
}

/// Where MPI does not allow it, there is none.
TEST(Startup, WithoutAProgressThreadWhereMpiAllowsNone) {
  ASSERT_EQ(setenv("CHORUS_PROGRESS_THREAD", "1", 1), 0);
  expect_that_it_works_under(MPI_THREAD_SINGLE);
}

TEST(Startup, BeforeItNothingWorks) {
  expect_error(outcome_of([] { static_cast<void>(Communicator::world()); }), ErrorCode::not_initialized,
               {"Communicator::world", "make a chorus::Environment", "MPI_Init"});
  expect_error(outcome_of([] { static_cast<void>(from_mpi(MPI_COMM_WORLD)); }), ErrorCode::not_initialized,
               {"from_mpi", "make a chorus::Environment"});
  const Environment environment;
  expect_that_it_works(Communicator::world());
}

TEST(Startup, AfterTheEndNothingWorks) {
  std::string rank;
  {
    const Environment environment;
    rank = std::to_string(job_rank());
  }
  expect_error(outcome_of([] { const Environment environment; }), ErrorCode::not_initialized,
               {"Environment on rank " + rank, "cannot be started again; keep one Environment"});
  expect_error(outcome_of([] { static_cast<void>(Communicator::world()); }), ErrorCode::not_initialized,
               {"Communicator::world", "before MPI_Finalize"});
}

TEST(Startup, CommunicatorsMayOutliveMpi) {
  std::optional<Environment> environment(std::in_place);
  const Communicator used = Communicator::world();
  expect_that_it_works(used);
  const Communicator unused = from_mpi(MPI_COMM_WORLD);
  environment.reset();
  for (const Communicator& comm : {used, unused}) {
    EXPECT_GE(comm.rank(), 0);
    EXPECT_GT(comm.size(), 0);
    expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::not_initialized,
                 {"barrier on rank", "MPI is not running", "before MPI_Finalize"});
    expect_error(outcome_of([&] { static_cast<void>(comm.dup()); }), ErrorCode::not_initialized, {"dup on rank"});
  }
}

TEST(Startup, RequestsMayOutliveMpi) {
  std::optional<Environment> environment(std::in_place);
  const Communicator used = Communicator::world();
  expect_that_it_works(used);
  const Communicator unused = from_mpi(MPI_COMM_WORLD);
  std::vector<double> many(50'000, 1);
  std::vector<Request> requests;
  if (job_rank() == 0) {  // alone, so that none can end well
    for (const Communicator& comm : {used, unused}) {
      for (int repetition = 0; repetition < 3; ++repetition) requests.push_back(iallreduce(comm, many, ReduceOp::sum));
    }
  }
  environment.reset();
  for (std::size_t number = 0; number < requests.size(); number += 3) {
    const std::vector<std::string> words = {"allreduce of 50000 float64 by sum on rank 0", "MPI is not running"};
    expect_error(outcome_of([&] { requests[number].wait(); }), ErrorCode::not_initialized, words);
    expect_error(outcome_of([&] { static_cast<void>(requests[number + 1].test()); }), ErrorCode::not_initialized,
                 words);
  }
  requests.clear();  // the others, of which nobody asks
}

}  // namespace
}  // namespace chorus::test
