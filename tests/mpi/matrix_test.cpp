// SPDX-License-Identifier: Apache-2.0
// Every algorithm through the public functions, on communicators of 1 to 8 ranks of one job.

#include "collectives/matrix.hpp"
#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/oracle.hpp"
#include "mpi/job.hpp"
#include "mpi/public_call.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

/// A way to cut the job into communicators that work at the same time.
struct Cut {
  const char* name;
  int (*color)(int rank);
  bool reversed = false;
};
constexpr Cut cuts[] = {
    {"8", [](int) { return 0; }},
    {"7_and_1", [](int rank) { return rank / 7; }},
    {"6_and_2", [](int rank) { return rank / 6; }},
    {"5_and_3", [](int rank) { return rank / 5; }},
    {"4_and_4", [](int rank) { return rank / 4; }},
    {"even_and_odd", [](int rank) { return rank % 2; }},
    {"reversed", [](int) { return 0; }, true},
};
void PrintTo(const Cut& cut, std::ostream* stream) { *stream << cut.name; }

class Matrix : public testing::TestWithParam<std::tuple<Collective, Cut>> {
 protected:
  Matrix()
      : cut_(std::get<1>(GetParam())),
        mpi_comm_(cut_.color(job_rank()), cut_.reversed ? -job_rank() : job_rank()),
        comm_(from_mpi(mpi_comm_.get())) {
    barrier(comm_);  // the set-up, after which it is known what applies
  }

  [[nodiscard]] Collective collective() const { return std::get<0>(GetParam()); }
  [[nodiscard]] int ranks() const { return comm_.size(); }
  [[nodiscard]] std::size_t slot_length() const { return comm_.state().settings().slot_bytes; }
  [[nodiscard]] bool has_one_buffer() const { return collective() == Collective::bcast; }

  /// By every algorithm and by the library's choice, blocking and not; offsets change from call to call.
  void check(const Call& call, bool in_place);

 private:
  void check_with(const PreparedCall& prepared, const CollectiveOptions& options);

  Cut cut_;
  OwnedComm mpi_comm_;
  Communicator comm_;
  std::size_t calls_ = 0;
};

void Matrix::check(const Call& call, bool in_place) {
  const PreparedCall prepared(call, ranks(), Placement::of_call(calls_++, in_place, size_of(call.type)));
  check_with(prepared, {});
  const Problem problem = problem_of(call, comm_.state().transport());
  for (const Algorithm* algorithm : algorithms(call.collective)) {
    const CollectiveOptions options{.algorithm = algorithm->name};
    if (algorithm->applies(problem)) {
      check_with(prepared, options);
      continue;
    }
    RankBuffers buffers(prepared, comm_.rank());
    const Outcome outcome = outcome_of([&] { test::call(comm_, prepared, buffers.arguments(), options); });
    EXPECT_EQ(outcome.code, ErrorCode::not_supported) << algorithm->name << ": " << outcome.text;
  }
}

void Matrix::check_with(const PreparedCall& prepared, const CollectiveOptions& options) {
  const std::string context = options.algorithm.empty() ? "the choice" : std::string(options.algorithm);
  RankBuffers blocking(prepared, comm_.rank());
  test::call(comm_, prepared, blocking.arguments(), options);
  expect_result(blocking, context);
  RankBuffers nonblocking(prepared, comm_.rank());
  Request request = start(comm_, prepared, nonblocking.arguments(), options);
  request.wait();
  expect_result(nonblocking, context + ", nonblocking");
}

TEST_P(Matrix, EveryCountAndRoot) {
  if (collective() == Collective::barrier) return check({.collective = Collective::barrier}, false);
  for (const std::size_t count : counts_for(ranks(), DataType::float32)) {
    for (const int root : roots_for(collective(), ranks())) {
      const Call call{collective(), DataType::float32, ReduceOp::sum, root, count};
      check(call, true);
      if (!has_one_buffer()) check(call, false);
    }
  }
}

TEST_P(Matrix, AroundTheLengthsOfLineAndSlot) {
  if (collective() == Collective::barrier) return;
  for (const std::size_t bytes : {std::size_t{55}, std::size_t{56}, std::size_t{57}}) {
    check({collective(), DataType::uint8, ReduceOp::max, ranks() - 1, bytes}, has_one_buffer());
  }
  const std::size_t slot = slot_length() / size_of(DataType::float64);
  for (const std::size_t count : {slot - 1, slot, slot + 1}) {
    check({collective(), DataType::float64, ReduceOp::max, ranks() - 1, count}, has_one_buffer());
  }
}

TEST_P(Matrix, EveryTypeAndOperation) {
  if (collective() == Collective::barrier) return;
  bool in_place = false;
  for (int index = 0; index < static_cast<int>(DataType::opaque); ++index) {
    const auto type = static_cast<DataType>(index);
    for (const ReduceOp op : ops_for(collective(), type)) {
      for (const std::size_t count : {std::size_t{3}, std::size_t{150}}) {
        in_place = !in_place || has_one_buffer();
        check({collective(), type, op, ranks() / 2, count}, in_place);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Matrix,
                         testing::Combine(testing::ValuesIn(every_collective()), testing::ValuesIn(cuts)),
                         [](const auto& info) {
                           return fmt::format("{}_on_{}", name(std::get<0>(info.param)), std::get<1>(info.param).name);
                         });

}  // namespace
}  // namespace chorus::test
