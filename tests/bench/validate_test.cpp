// SPDX-License-Identifier: Apache-2.0
// Run by mpirun on several ranks: the benchmark's own checks let right collectives pass and find wrong ones.
#include "validate.hpp"
#include "block_lists.hpp"

#include <chorus/environment.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {
namespace {

constexpr std::size_t count_per_rank = 64;

/// True where every rank's check of `row`, carried out by `run`, was content.
bool passes(const Row& row, const AnyRun& run) {
  const Communicator world = Communicator::world();
  const auto ranks = static_cast<std::size_t>(world.size());
  const Lengths lengths = row.lengths(count_per_rank * ranks, ranks);
  const std::vector<float> in(lengths.in);
  std::vector<float> out(lengths.out);
  int pass = row.validate({.world = world, .in = in, .out = out, .options = {}}, run) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &pass, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return pass == 1;
}

TEST(BlockLists, CountBlocksThatAnIntDoesNot) {
  const std::size_t count = 3'000'000'000;
  const Communicator world = Communicator::world();
  const BlockLists& blocks = blocks_of({.world = world, .in = {}, .out = {}, .options = {}}, count);
  EXPECT_EQ(blocks.counts, std::vector(static_cast<std::size_t>(world.size()), count));
}

class EveryRow : public testing::TestWithParam<Row> {};

TEST_P(EveryRow, PassesWithMpi) { EXPECT_TRUE(passes(GetParam(), GetParam().native)); }
TEST_P(EveryRow, PassesWithChorus) { EXPECT_TRUE(passes(GetParam(), GetParam().chorus)); }
TEST_P(EveryRow, FailsWhereNothingIsDone) {
  EXPECT_FALSE(passes(GetParam(), [](const Call&) {}));
}

INSTANTIATE_TEST_SUITE_P(Table, EveryRow, testing::ValuesIn(table().begin(), table().end()),
                         [](const auto& row) { return std::string(row.param.name); });

const Row& row_named(std::string_view name) {
  return *std::find_if(table().begin(), table().end(), [&](const Row& row) { return row.name == name; });
}

TEST(Validation, FindsAWrongOperation) {
  EXPECT_FALSE(passes(row_named("allreduce"), [](const Call& call) {
    MPI_Allreduce(call.in.data(), call.out.data(), static_cast<int>(call.in.size()), MPI_FLOAT, MPI_MAX,
                  MPI_COMM_WORLD);
  }));
}

TEST(Validation, FindsOneMissingElement) {
  EXPECT_FALSE(passes(row_named("allreduce"), [](const Call& call) {
    MPI_Allreduce(call.in.data(), call.out.data(), static_cast<int>(call.in.size()) - 1, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }));
}

TEST(Validation, FindsBlocksInAWrongOrder) {
  EXPECT_FALSE(passes(row_named("allgather"), [](const Call& call) {
    row_named("allgather").native(call);
    std::rotate(call.out.begin(), call.out.begin() + static_cast<std::ptrdiff_t>(call.in.size()), call.out.end());
  }));
}

TEST(Validation, FindsBlocksOfTheWrongRank) {
  EXPECT_FALSE(passes(row_named("alltoall"), [](const Call& call) {
    row_named("alltoall").native(call);
    std::copy_n(call.in.begin(), call.in.size() / static_cast<std::size_t>(call.world.size()), call.out.begin());
  }));
}

TEST(Validation, FindsAWrongRankAlone) {
  EXPECT_FALSE(passes(row_named("bcast"), [](const Call& call) {
    row_named("bcast").native(call);
    if (call.world.rank() == call.world.size() - 1) call.out.back() += 1;
  }));
}

TEST(Validation, FindsABarrierThatDoesNotWaitForTheLastRank) {
  MPI_Comm others = MPI_COMM_NULL;
  const Communicator world = Communicator::world();
  MPI_Comm_split(MPI_COMM_WORLD, world.rank() == world.size() - 1 ? MPI_UNDEFINED : 0, 0, &others);
  EXPECT_FALSE(passes(row_named("barrier"), [&](const Call&) {
    if (others != MPI_COMM_NULL) MPI_Barrier(others);
  }));
  if (others != MPI_COMM_NULL) MPI_Comm_free(&others);
}

}  // namespace
}  // namespace chorus::bench

int main(int argc, char** argv) {
  const chorus::Environment mpi;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
