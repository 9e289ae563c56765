// SPDX-License-Identifier: Apache-2.0
// Ranks of a node that make different calls: all are told who differs, and nobody hangs.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

constexpr int odd_rank = 1;

/// A pair of calls of which one rank makes the second. Each takes the number of bytes and the options.
struct Disagreement {
  using Calls = void (*)(const Communicator&, std::size_t bytes, const CollectiveOptions&);
  const char* name;
  Calls most;
  Calls odd;
  std::string_view most_says;
  std::string_view odd_says;
};
void PrintTo(const Disagreement& disagreement, std::ostream* stream) { *stream << disagreement.name; }

template <class T>
std::vector<T> elements(std::size_t bytes) {
  return std::vector<T>(bytes / sizeof(T) + 1, T{1});
}

template <class T, ReduceOp Op = ReduceOp::sum, std::size_t More = 0>
void allreduces(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  std::vector<T> data = elements<T>(bytes + More * sizeof(T));
  allreduce(comm, data, Op, options);
}

/// By one that is never chosen on a node.
void allreduces_another_way(const Communicator& comm, std::size_t bytes, const CollectiveOptions& /*options*/) {
  allreduces<float>(comm, bytes, {.algorithm = "swing_whole"});
}

void allreduces_reproducibly(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  allreduces<float>(comm, bytes,
                    {.algorithm = options.algorithm == "native" ? "" : options.algorithm, .reproducible = true});
}

std::string task(std::uint32_t number) { return fmt::format("task {}", number); }

template <std::uint32_t Task>
void allreduces_for(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  comm.set_purpose({Task, task});
  allreduces<float>(comm, bytes, options);
}

template <std::uint32_t Task>
void starts_for(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  comm.set_purpose({Task, task});
  std::vector<float> data = elements<float>(bytes);
  Request request = iallreduce(comm, data, ReduceOp::sum, options);
  comm.set_purpose({});  // the request keeps its own
  request.wait();
}

template <int Root>
void broadcasts(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  std::vector<float> data = elements<float>(bytes);
  bcast(comm, data, Root, options.algorithm == "ring" ? CollectiveOptions{} : options);
}

template <int Root>
void scatters(const Communicator& comm, std::size_t bytes, const CollectiveOptions& /*options*/) {
  std::vector<float> mine = elements<float>(bytes);
  const std::vector<float> all(comm.rank() == Root ? mine.size() * static_cast<std::size_t>(comm.size()) : 0);
  scatter(comm, all, mine, Root);
}

template <int Root>
void reduces_to(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  std::vector<float> data = elements<float>(bytes);
  reduce(comm, data, ReduceOp::sum, Root, options.algorithm == "ring" ? CollectiveOptions{} : options);
}

void waits(const Communicator& comm, std::size_t /*bytes*/, const CollectiveOptions& options) {
  barrier(comm, options.algorithm == "ring" ? CollectiveOptions{} : options);
}

void starts_and_waits(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  std::vector<double> data = elements<double>(bytes);
  iallreduce(comm, data, ReduceOp::sum, options).wait();
}

void allreduces_then_broadcasts(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  allreduces<float>(comm, bytes, options);
  broadcasts<0>(comm, bytes, options);
}

void broadcasts_then_allreduces(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  broadcasts<0>(comm, bytes, options);
  allreduces<float>(comm, bytes, options);
}

/// Blocks for the ranks: `More` elements lie in the last that would else lie in the first.
template <std::size_t More>
std::vector<std::size_t> counts_of_blocks(const Communicator& comm, std::size_t bytes) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(comm.size()), bytes / sizeof(float) + 1);
  counts.front() -= More;
  counts.back() += More;
  return counts;
}

template <std::size_t More>
void reduce_scatters(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  const std::vector<std::size_t> counts = counts_of_blocks<More>(comm, bytes);
  const std::vector<float> in(counts[1] * counts.size());
  std::vector<float> out(counts[static_cast<std::size_t>(comm.rank())]);
  reduce_scatter(comm, in, out, counts, ReduceOp::sum, options.algorithm == "ring" ? CollectiveOptions{} : options);
}

template <std::size_t More>
void allgathers(const Communicator& comm, std::size_t bytes, const CollectiveOptions& options) {
  const std::vector<std::size_t> counts = counts_of_blocks<More>(comm, bytes);
  const std::vector<float> in(counts[static_cast<std::size_t>(comm.rank())]);
  std::vector<float> out(counts[1] * counts.size());
  allgatherv(comm, in, out, counts, options);
}

constexpr Disagreement disagreements[] = {
    {"count", allreduces<float>, allreduces<float, ReduceOp::sum, 1>, "float32 by sum", "float32 by sum"},
    {"type", allreduces<float>, allreduces<std::int32_t>, "float32 by sum", "int32 by sum"},
    {"operation", allreduces<float>, allreduces<float, ReduceOp::max>, "float32 by sum", "float32 by max"},
    {"repeatability", allreduces<float>, allreduces_reproducibly, "float32 by sum", "float32 by sum, reproducible"},
    {"algorithm", allreduces<float>, allreduces_another_way, "float32 by sum (algorithm ", "(algorithm swing_whole)"},
    {"collective", allreduces<float>, waits, "allreduce of", "barrier"},
    {"nonblocking", allreduces<float>, starts_and_waits, "float32 by sum", "float64 by sum"},
    {"purpose", allreduces_for<3>, allreduces_for<4>, "task 3: allreduce of", "task 4: allreduce of"},
    {"no_purpose", allreduces_for<3>, allreduces<float>, " 3: allreduce of", ": allreduce of"},
    {"purpose_of_request", starts_for<3>, starts_for<4>, "task 3: allreduce of", "task 4: allreduce of"},
    {"bcast_root", broadcasts<0>, broadcasts<2>, "with root 0", "with root 2"},
    {"own_root_of_bcast", broadcasts<0>, broadcasts<odd_rank>, "with root 0", "with root 1"},
    {"own_root_of_scatter", scatters<0>, scatters<odd_rank>, "with root 0", "with root 1"},
    {"bcast_and_scatter", broadcasts<0>, scatters<odd_rank>, "bcast of", "scatter of"},
    {"reduce_root", reduces_to<0>, reduces_to<2>, "with root 0", "with root 2"},
    {"counts_of_reduce_scatter", reduce_scatters<0>, reduce_scatters<1>, "reduce_scatter of", "have the checksum"},
    {"counts_of_allgatherv", allgathers<0>, allgathers<1>, "allgatherv of", "have the checksum"},
    {"order", allreduces_then_broadcasts, broadcasts_then_allreduces, "allreduce of", "bcast of"},
};

using Parameters = std::tuple<Disagreement, std::size_t, std::string_view>;  // with the bytes and the algorithm

std::string name_of(const testing::TestParamInfo<Parameters>& info) {
  const auto& [disagreement, bytes, algorithm] = info.param;
  return fmt::format("{}_{}_{}", disagreement.name, bytes, algorithm.empty() ? "chosen" : algorithm);
}

class Mismatch : public testing::TestWithParam<Parameters> {};

TEST_P(Mismatch, IsToldToEveryRankOfTheNode) {
  const auto& [disagreement, bytes, algorithm] = GetParam();
  const CollectiveOptions options{.algorithm = algorithm};
  const OwnedComm mpi_comm(0, job_rank());
  const Communicator comm = from_mpi(mpi_comm.get());
  barrier(comm);
  const Disagreement::Calls calls = comm.rank() == odd_rank ? disagreement.odd : disagreement.most;
  const Outcome outcome = outcome_of([&, &bytes = bytes] {
    calls(comm, bytes, options);
    barrier(comm);  // where a rank that need not wait for others learns it
  });
  expect_error(
      outcome, ErrorCode::mismatch,
      {fmt::format("on rank {}", comm.rank()), "the ranks disagree about call", fmt::format("rank {}:", odd_rank),
       std::string(disagreement.most_says), std::string(disagreement.odd_says)});
  const bool names_algorithms = outcome.text.find("(algorithm ") != std::string::npos;
  EXPECT_EQ(names_algorithms, std::string_view(disagreement.name) == "algorithm") << outcome.text;
  EXPECT_LT(outcome.took.count(), soon_s);
  const Outcome later = outcome_of([&] { barrier(comm); });
  expect_error(later, ErrorCode::broken, {fmt::format("on rank {}", comm.rank()), "make a new one", "disagree"});
  EXPECT_LT(later.took.count(), soon_s);
}

INSTANTIATE_TEST_SUITE_P(Every, Mismatch,
                         testing::Combine(testing::ValuesIn(disagreements),
                                          testing::Values(std::size_t{4}, std::size_t{2000}, std::size_t{4'000'000}),
                                          testing::Values("", "ring", "native")),
                         name_of);

// The root of the bcast waits for nobody, so that three ranks are in the next call when they see what the fourth does.
// That one waits for them to leave its slots, whatever call they are in.
TEST(MismatchOfRounds, IsToldToARankWhoseCallTheOthersPassedBy) {
  const OwnedComm mpi_comm(0, job_rank());
  const Communicator comm = from_mpi(mpi_comm.get());
  const Outcome outcome = outcome_of([&] {
    std::vector<float> mine(std::size_t{1} << 20U);
    if (comm.rank() == odd_rank) {
      const std::vector<float> all(mine.size() * static_cast<std::size_t>(comm.size()));
      scatter(comm, all, mine, odd_rank, {.algorithm = "shared"});
    } else {
      bcast(comm, std::span(mine).first(1), 0, {.algorithm = "line"});
    }
    barrier(comm);
  });
  expect_error(outcome, ErrorCode::mismatch, {"disagree about call #1", "rank 1: scatter of", "bcast of"});
  EXPECT_LT(outcome.took.count(), soon_s);
}

class MismatchOfNodes : public testing::TestWithParam<Parameters> {};

TEST_P(MismatchOfNodes, IsToldToEveryRankWhereItIsAskedFor) {
  const auto& [disagreement, bytes, algorithm] = GetParam();
  const CollectiveOptions options{.algorithm = algorithm};
  const ScopedVariable nodes("CHORUS_NODE_RANKS", "2");
  const ScopedVariable compare("CHORUS_CHECK", "collective");
  const ScopedVariable chosen("CHORUS_ALLREDUCE", "hierarchical");  // whatever the network measures
  const OwnedComm mpi_comm(0, job_rank());
  const Communicator comm = from_mpi(mpi_comm.get());
  barrier(comm);
  const Disagreement::Calls calls = comm.rank() >= comm.size() / 2 ? disagreement.odd : disagreement.most;
  const Outcome outcome = outcome_of([&, &bytes = bytes] {
    calls(comm, bytes, options);
    barrier(comm);
  });
  expect_error(outcome, ErrorCode::mismatch,
               {fmt::format("on rank {}", comm.rank()), "the ranks disagree about this call",
                std::string(disagreement.most_says), std::string(disagreement.odd_says)});
  EXPECT_LT(outcome.took.count(), soon_s);
  expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::broken, {"make a new one"});
}

// Short ones: a long message half way over MPI cannot be taken back when a call fails.
INSTANTIATE_TEST_SUITE_P(Every, MismatchOfNodes,
                         testing::Combine(testing::ValuesIn(disagreements),
                                          testing::Values(std::size_t{4}, std::size_t{2000}),
                                          testing::Values("", "ring", "native")),
                         name_of);

}  // namespace
}  // namespace chorus::test
