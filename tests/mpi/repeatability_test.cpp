// SPDX-License-Identifier: Apache-2.0
// Reproducible and deterministic calls in every public form, asked for by the call and by the environment.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace chorus::test {
namespace {

constexpr CollectiveOptions reproducible{.reproducible = true};
constexpr std::array<std::size_t, 4> counts = {0, 1, 1000, 20'000};

/// What rounding in any order but the exact sum gets wrong.
double contribution(int rank, std::size_t index) {
  const double large = std::ldexp(1.0 + static_cast<double>(index), 40 + 7 * (rank / 2));
  return rank % 2 == 0 ? large + 1.0 / 3 : -large;
}

std::vector<double> contributions(int rank, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = contribution(rank, i);
  return values;
}

/// The sums over the first `ranks` ranks of the elements from `first` on.
std::vector<double> sums(int ranks, std::size_t count, std::size_t first = 0) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    ExactSum<double> sum;
    for (int rank = ranks - 1; rank >= 0; --rank) sum += contribution(rank, first + i);
    values[i] = sum.value();
  }
  return values;
}

class Repeatability : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] std::vector<double> mine(std::size_t count) const { return contributions(comm_.rank(), count); }

 private:
  // The first `GetParam()` ranks of the job, and the others.
  OwnedComm mpi_comm_{job_rank() < GetParam() ? 0 : 1, job_rank()};
  Communicator comm_ = from_mpi(mpi_comm_.get());
};

TEST_P(Repeatability, ReproducibleSumsAreExactInEveryCollective) {
  const auto size = static_cast<std::size_t>(comm().size());
  const auto rank = static_cast<std::size_t>(comm().rank());
  for (const std::size_t count : counts) {
    std::vector<double> out(count);
    allreduce(comm(), mine(count), out, ReduceOp::sum, reproducible);
    EXPECT_EQ(out, sums(comm().size(), count));
    reduce(comm(), mine(count), out, ReduceOp::sum, 0, reproducible);
    if (comm().rank() == 0) {
      EXPECT_EQ(out, sums(comm().size(), count));
    }
    reduce_scatter_block(comm(), mine(size * count), out, ReduceOp::sum, reproducible);
    EXPECT_EQ(out, sums(comm().size(), count, rank * count));
    scan(comm(), mine(count), out, ReduceOp::sum, reproducible);
    EXPECT_EQ(out, sums(comm().rank() + 1, count));
    exscan(comm(), mine(count), out, ReduceOp::sum, reproducible);
    if (comm().rank() > 0) {
      EXPECT_EQ(out, sums(comm().rank(), count));
    }
  }
}

TEST_P(Repeatability, ReproducibleSumsAreExactInRequests) {
  for (const std::size_t count : counts) {
    std::vector<double> inout = mine(count);
    Request request = iallreduce(comm(), inout, ReduceOp::sum, reproducible);
    std::vector<double> prefix = mine(count);
    Request second = iscan(comm(), prefix, ReduceOp::sum, reproducible);
    second.wait();
    request.wait();
    EXPECT_EQ(inout, sums(comm().size(), count));
    EXPECT_EQ(prefix, sums(comm().rank() + 1, count));

    const std::vector<double> in = mine(count);
    std::vector<double> out(count);
    PersistentRequest persistent = allreduce_init(comm(), in, out, ReduceOp::sum, reproducible);
    for (int start = 0; start < 2; ++start) {
      out.assign(count, 0);
      persistent.start();
      persistent.wait();
      EXPECT_EQ(out, sums(comm().size(), count));
    }
  }
}

TEST_P(Repeatability, TheEnvironmentAsksForAllCalls) {
  const ScopedVariable variable("CHORUS_REPRODUCIBLE", "1");
  const OwnedComm mpi_comm(job_rank() < GetParam() ? 0 : 1, job_rank());
  const Communicator asked = from_mpi(mpi_comm.get());
  std::vector<double> inout = mine(1000);
  allreduce(asked, inout, ReduceOp::sum);
  EXPECT_EQ(inout, sums(comm().size(), 1000));
  inout = mine(1000);
  iallreduce(asked, inout, ReduceOp::sum).wait();
  EXPECT_EQ(inout, sums(comm().size(), 1000));
  EXPECT_EQ(allreduce(asked, 1, ReduceOp::sum), comm().size()) << "integers are as they are";
}

TEST_P(Repeatability, MpisOwnCollectiveIsNoneOfTheirAlgorithms) {
  for (const CollectiveOptions& options : {CollectiveOptions{.algorithm = "native", .deterministic = true},
                                           CollectiveOptions{.algorithm = "native", .reproducible = true}}) {
    const OwnedComm mpi_comm(job_rank() < GetParam() ? 0 : 1, job_rank());
    const Communicator asked = from_mpi(mpi_comm.get());
    expect_error(outcome_of([&] { static_cast<void>(allreduce(asked, 1.5, ReduceOp::sum, options)); }),
                 ErrorCode::not_supported, {"native", options.reproducible ? "reproducible" : "deterministic"});
  }
  const CollectiveOptions options{.algorithm = "native", .deterministic = true};
  EXPECT_EQ(allreduce(comm(), 1, ReduceOp::sum, options), comm().size()) << "integers are the same always";
}

TEST_P(Repeatability, DeterministicCallsHaveTheSameBitsInEveryForm) {
  constexpr CollectiveOptions deterministic{.deterministic = true};
  for (const std::size_t count : counts) {
    std::vector<double> first = mine(count);
    allreduce(comm(), first, ReduceOp::sum, deterministic);
    for (int run = 0; run < 3; ++run) {
      const OwnedComm mpi_comm(job_rank() < GetParam() ? 0 : 1, job_rank());
      const Communicator again = from_mpi(mpi_comm.get());
      std::vector<double> blocking = mine(count);
      allreduce(again, blocking, ReduceOp::sum, deterministic);
      EXPECT_EQ(blocking, first);
      std::vector<double> requested = mine(count);
      iallreduce(again, requested, ReduceOp::sum, deterministic).wait();
      EXPECT_EQ(requested, first);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Repeatability, testing::Values(1, 2, 3, 5, 8));

}  // namespace
}  // namespace chorus::test
