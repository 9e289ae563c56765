// SPDX-License-Identifier: Apache-2.0
// Functions of reductions that throw: every rank learns it, and no later call gets what is left of the failed one.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

struct NoStandardException {};

/// What rank 0's function does, and how it is told.
struct Failure {
  const char* name;
  void (*happen)(const Communicator& other);
  std::string_view says;
};
void PrintTo(const Failure& failure, std::ostream* stream) { *stream << failure.name; }

constexpr Failure failures[] = {
    {"exception", [](const Communicator&) { throw std::runtime_error("no such point"); }, "no such point"},
    {"foreign", [](const Communicator&) { throw NoStandardException(); }, "something that is no std::exception"},
    {"error", [](const Communicator&) { throw Error(ErrorCode::invalid_argument, "no such line"); }, "no such line"},
    {"collective", [](const Communicator& other) { barrier(other); },
     "barrier on rank 0: it is called in the function of a reduction"},
};

class Functions : public testing::TestWithParam<std::tuple<Failure, const char*>> {
 protected:
  [[nodiscard]] static const Failure& failure() { return std::get<0>(GetParam()); }
  [[nodiscard]] static CollectiveOptions options() { return {.algorithm = std::get<1>(GetParam())}; }

  [[nodiscard]] auto failing_sum() const {
    return commutative([this](double left, double right) {
      if (job_rank() == 0) failure().happen(comm_);
      return left + right;
    });
  }
  /// After a call that threw on rank 0: each rank has learnt it, or learns it now.
  void expect_broken(const Outcome& outcome) {
    const std::vector<std::string> words = {fmt::format("on rank {}", job_rank()), "the function of the reduction",
                                            std::string(failure().says), "let it return a value"};
    if (job_rank() == 0 || outcome.code) expect_error(outcome, ErrorCode::function_threw, words);
    const Outcome later = outcome_of([&] {
      barrier(comm_);
      barrier(comm_);
    });
    expect_error(later, outcome.code ? ErrorCode::broken : ErrorCode::function_threw, words);
    meet_job();
    const Communicator fresh = from_mpi(mpi_comm_.get());
    for (int repetition = 0; repetition < 3; ++repetition) {
      std::vector<double> ones(data_.size(), 1);
      allreduce(fresh, ones, ReduceOp::sum, options());
      ASSERT_EQ(ones, std::vector<double>(ones.size(), job_size()));
    }
  }

  OwnedComm mpi_comm_{0, job_rank()};
  Communicator comm_ = from_mpi(mpi_comm_.get());
  std::vector<double> data_ = std::vector<double>(1000, 1);
};

TEST_P(Functions, ThatThrowBreakTheCommunicator) {
  expect_broken(outcome_of([&] { allreduce(comm_, data_, failing_sum(), options()); }));
}

TEST_P(Functions, ThatThrowInARequestBreakTheCommunicator) {
  expect_broken(outcome_of([&] { iallreduce(comm_, data_, failing_sum(), options()).wait(); }));
}

TEST_P(Functions, ThatThrowInARequestNobodyWaitsForBreakTheCommunicator) {
  if (std::string_view(failure().name) == "collective") return;
  { const Request request = iallreduce(comm_, data_, failing_sum(), options()); }
  if (job_rank() == 0) {
    expect_error(outcome_of([&] { barrier(comm_); }), ErrorCode::broken, {std::string(failure().says)});
  }
  meet_job();
}

INSTANTIATE_TEST_SUITE_P(Every, Functions,
                         testing::Combine(testing::ValuesIn(failures),
                                          testing::Values("", "ring", "slot", "recursive_doubling")),
                         [](const auto& info) {
                           const std::string_view algorithm = std::get<1>(info.param);
                           return fmt::format("{}_in_{}", std::get<0>(info.param).name,
                                              algorithm.empty() ? "chosen" : algorithm);
                         });

TEST(FunctionAtTheRoot, ThatThrowsLeavesItsMessagesToNoLaterCommunicator) {
  const OwnedComm mpi_comm(0, job_rank());
  std::vector<double> data(100, 1);
  const auto throws = [](double /*left*/, double /*right*/) -> double { throw std::runtime_error("no such point"); };
  const auto sum = [&](double left, double right) { return job_rank() == 0 ? throws(left, right) : left + right; };
  {
    const Communicator comm = from_mpi(mpi_comm.get());
    barrier(comm);
    const Outcome outcome = outcome_of([&] { reduce(comm, data, commutative(sum), 0, {.algorithm = "binomial"}); });
    if (job_rank() == 0) expect_error(outcome, ErrorCode::function_threw, {"no such point"});
    meet_job();
  }
  const Communicator fresh = from_mpi(mpi_comm.get());
  data.assign(data.size(), 2);
  reduce(fresh, data, ReduceOp::sum, 0, {.algorithm = "binomial"});
  if (job_rank() == 0) {
    EXPECT_EQ(data, std::vector<double>(data.size(), 2 * job_size()));
  }
}

TEST(FunctionOfARequest, ThatThrowsEndsTheRequestsBehindIt) {
  const OwnedComm mpi_comm(0, job_rank());
  const Communicator comm = from_mpi(mpi_comm.get());
  std::vector<double> first(100, 1);
  std::vector<double> second(100, 1);
  const auto throws = [](double /*left*/, double /*right*/) -> double { throw std::runtime_error("no such point"); };
  Request failing = iallreduce(comm, first, commutative(throws), {.algorithm = "ring"});
  Request behind = iallreduce(comm, second, ReduceOp::sum, {.algorithm = "ring"});
  expect_error(outcome_of([&] { behind.wait(); }), ErrorCode::function_threw, {"no such point"});
  expect_error(outcome_of([&] { failing.wait(); }), ErrorCode::function_threw, {"no such point"});
  meet_job();
}

}  // namespace
}  // namespace chorus::test
