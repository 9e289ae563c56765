// SPDX-License-Identifier: Apache-2.0
// Requests that do not end well: who polls learns it as well as who waits, and hears the same again.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

constexpr auto limit = 400ms;

/// On a communicator on which the last rank does not come.
class FailedRequests : public testing::TestWithParam<const char*> {
 protected:
  FailedRequests() { barrier(comm_); }
  [[nodiscard]] static bool missing() { return job_rank() == job_size() - 1; }
  [[nodiscard]] Request start(const CollectiveOptions& options = {}) {
    return iallreduce(comm_, data_, ReduceOp::sum, options);
  }
  [[nodiscard]] std::string name_of_call() const {
    return fmt::format("allreduce of {} float64 by sum on rank {}", data_.size(), comm_.rank());
  }

  ScopedVariable shared_memory_{"CHORUS_SHARED_MEMORY", GetParam()};
  MPI_Comm mpi_comm_ = [] {  // never freed, as not all ranks come to what is called on it
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
  }();
  Communicator comm_ = from_mpi(mpi_comm_);
  std::vector<double> data_ = std::vector<double>(100, 1);
};

void poll(Request& request) {
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (!request.test() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
}

TEST_P(FailedRequests, KeepTheirDeadlineWhereTheyArePolled) {
  if (!missing()) {
    Request request = start({.timeout = limit});
    const Outcome outcome = outcome_of([&] { poll(request); });
    expect_error(outcome, ErrorCode::timeout, {name_of_call(), "0.4 s"});
    EXPECT_GT(outcome.took.count(), 0.35);
    EXPECT_LT(outcome.took.count(), soon_s);
  }
  meet_job();
}

TEST_P(FailedRequests, TellWhoPollsThatAnotherRankGaveUp) {
  if (job_rank() == 0) expect_error(outcome_of([&] { start({.timeout = limit}).wait(); }), ErrorCode::timeout, {});
  if (job_rank() != 0 && !missing()) {
    Request request = start();
    const Outcome outcome = outcome_of([&] { poll(request); });
    expect_error(outcome, ErrorCode::timeout, {name_of_call(), "rank 0 gave up"});
    EXPECT_LT(outcome.took.count(), soon_s);
  }
  meet_job();
}

TEST_P(FailedRequests, CountLittleOfTheTimeBetweenTwoTests) {
  if (missing()) std::this_thread::sleep_for(1000ms);
  Request request = start({.timeout = 600ms});
  if (!missing()) {
    EXPECT_FALSE(request.test());
    std::this_thread::sleep_for(800ms);
    EXPECT_FALSE(request.test());
  }
  request.wait();
  EXPECT_EQ(data_[0], job_size());
}

TEST_P(FailedRequests, AreOverAndThrowTheSameAgain) {
  if (!missing()) {
    std::vector<Request> requests;
    requests.push_back(start({.timeout = limit}));
    requests.push_back(start());
    const Outcome first = outcome_of([&] { wait_all(requests); });
    expect_error(first, ErrorCode::timeout, {name_of_call()});
    EXPECT_FALSE(requests[0].pending());
    EXPECT_TRUE(requests[1].pending());
    EXPECT_EQ(outcome_of([&] { wait_all(requests); }).text, first.text);
    EXPECT_EQ(outcome_of([&] { requests[0].wait(); }).text, first.text);
    EXPECT_EQ(outcome_of([&] { static_cast<void>(requests[0].test()); }).text, first.text);
    const Outcome second = outcome_of([&] { static_cast<void>(wait_any(requests)); });
    expect_error(second, ErrorCode::timeout,
                 {name_of_call() + ": given up with an earlier call", first.text.substr(8)});
    EXPECT_FALSE(requests[1].pending());
    EXPECT_FALSE(wait_any(requests));
  }
  meet_job();
}

TEST_P(FailedRequests, EndTheBlockingCallBehindThem) {
  if (!missing()) {
    const Request request = start();
    expect_error(outcome_of([&] { barrier(comm_, {.timeout = limit}); }), ErrorCode::timeout,
                 {fmt::format("barrier on rank {}: given up with an earlier call", comm_.rank())});
    expect_error(outcome_of([&] { barrier(comm_); }), ErrorCode::broken, {"make a new one"});
  }
  meet_job();
}

TEST_P(FailedRequests, DoNotStartAgain) {
  PersistentRequest request = allreduce_init(comm_, data_, ReduceOp::sum, {.timeout = limit});
  if (!missing()) {
    request.start();
    expect_error(outcome_of([&] { request.wait(); }), ErrorCode::timeout, {name_of_call()});
    expect_error(outcome_of([&] { request.start(); }), ErrorCode::broken, {"make a new one"});
  }
  PersistentRequest moved = std::move(request);
  expect_error(outcome_of([&] { request.start(); }), ErrorCode::invalid_argument, {"PersistentRequest::start"});
  meet_job();
}

INSTANTIATE_TEST_SUITE_P(SharedMemory, FailedRequests, testing::Values("auto", "off"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace chorus::test
