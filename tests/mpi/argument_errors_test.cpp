// SPDX-License-Identifier: Apache-2.0
// Wrong arguments: what the user reads, and that the communicator works afterwards.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::test {
namespace {

class WrongArguments : public testing::Test {
 protected:
  /// That `call` fails on every rank with these words and the rank, and leaves the communicator as it was.
  void expect_rejected(const std::function<void()>& call, ErrorCode code, std::vector<std::string> words) {
    words.push_back(fmt::format("on rank {}", comm_.rank()));
    expect_error(outcome_of(call), code, words);
    EXPECT_EQ(allreduce(comm_, 1, ReduceOp::sum), comm_.size());
  }

  OwnedComm mpi_comm_{0, job_rank()};
  Communicator comm_ = from_mpi(mpi_comm_.get());
  std::array<float, 64> in_{};
  std::array<float, 64> out_{};
  std::span<const float> in4_{in_.data(), 4};
  std::span<float> out3_{out_.data(), 3};
};

TEST_F(WrongArguments, Lengths) {
  const auto invalid = ErrorCode::invalid_argument;
  const std::vector<std::string> counts = {"argument out has 3 elements and in has 4"};
  const auto with = [&](const char* function) { return std::vector<std::string>{function, counts[0]}; };
  expect_rejected([&] { allreduce(comm_, in4_, out3_, ReduceOp::sum); }, invalid, with("allreduce"));
  expect_rejected([&] { static_cast<void>(iallreduce(comm_, in4_, out3_, ReduceOp::sum)); }, invalid,
                  with("allreduce"));
  expect_rejected([&] { allgather(comm_, in4_, out3_); }, invalid, with("allgather"));
  expect_rejected([&] { reduce_scatter_block(comm_, in4_, out3_, ReduceOp::sum); }, invalid,
                  with("reduce_scatter_block"));
  expect_rejected([&] { alltoall(comm_, in4_, out3_); }, invalid, with("alltoall"));
  expect_rejected([&] { scan(comm_, in4_, out3_, ReduceOp::sum); }, invalid, with("scan"));
  expect_rejected([&] { static_cast<void>(iexscan(comm_, in4_, out3_, ReduceOp::sum)); }, invalid, with("exscan"));
  const Outcome gathered = outcome_of([&] { gather(comm_, in4_, out3_, comm_.rank()); });
  expect_error(gathered, invalid, with("gather"));
  const Outcome scattered = outcome_of([&] { static_cast<void>(iscatter(comm_, in4_, out3_, comm_.rank())); });
  expect_error(scattered, invalid, with("scatter"));
  const Outcome reduced = outcome_of([&] { reduce(comm_, in4_, out3_, ReduceOp::sum, comm_.rank()); });
  expect_error(reduced, invalid, with("reduce"));
}

TEST_F(WrongArguments, LengthsInPlaceThatAreNoMultipleOfTheRanks) {
  const std::span<float> odd(out_.data(), static_cast<std::size_t>(comm_.size()) + 1);
  expect_rejected([&] { allgather(comm_, odd); }, ErrorCode::invalid_argument, {"allgather", "argument"});
  expect_rejected([&] { reduce_scatter_block(comm_, odd, ReduceOp::sum); }, ErrorCode::invalid_argument,
                  {"reduce_scatter_block", "argument"});
  expect_rejected([&] { alltoall(comm_, odd); }, ErrorCode::invalid_argument, {"alltoall", "argument"});
  expect_error(outcome_of([&] { gather(comm_, odd, comm_.rank()); }), ErrorCode::invalid_argument,
               {"gather", "argument"});
  expect_error(outcome_of([&] { scatter(comm_, odd, comm_.rank()); }), ErrorCode::invalid_argument,
               {"scatter", "argument"});
}

TEST_F(WrongArguments, OverlappingBuffers) {
  const std::span<const float> in(in_.data(), 4);
  const std::span<float> out(in_.data() + 1, 4);
  expect_rejected([&] { allreduce(comm_, in, out, ReduceOp::sum); }, ErrorCode::invalid_argument,
                  {"allreduce", "in and out overlap", "in place"});
  expect_rejected([&] { scan(comm_, in, out, ReduceOp::sum); }, ErrorCode::invalid_argument,
                  {"scan", "in and out overlap", "in place"});
}

TEST_F(WrongArguments, NullPointersWithElements) {
  const std::span<double> nothing(static_cast<double*>(nullptr), 10);
  std::vector<double> data(10);
  const auto rejected = [&](const std::string& words, const std::function<void()>& call) {
    expect_error(outcome_of(call), ErrorCode::invalid_argument, {words, "null pointer with 10 elements"});
    EXPECT_EQ(allreduce(comm_, 1, ReduceOp::sum), comm_.size());
  };
  const std::string on = fmt::format(" on rank {}: argument ", comm_.rank());
  rejected("allreduce" + on + "inout", [&] { allreduce(comm_, nothing, ReduceOp::sum); });
  rejected("bcast" + on + "data", [&] { bcast(comm_, nothing, 0); });
  rejected("allreduce" + on + "in", [&] { allreduce(comm_, nothing, data, ReduceOp::sum); });
  rejected("allreduce" + on + "out", [&] { iallreduce(comm_, data, nothing, ReduceOp::sum).wait(); });
}

TEST_F(WrongArguments, LengthsBeyondAnAddressSpace) {
  std::array<double, 8> data{};
  const auto of_length = [&](std::size_t count) { return std::span<double>(data.data(), count); };
  const auto rejected = [&](const std::string& function, const std::string& argument, std::size_t count,
                            const std::function<void()>& call) {
    expect_rejected(call, ErrorCode::invalid_argument,
                    {function, fmt::format("argument {} has {} elements of 8 bytes, more than an address space holds; "
                                           "was a negative number converted?",
                                           argument, count)});
  };
  constexpr std::size_t one = 1;
  for (const std::size_t count : {std::size_t{0} - 1, (one << 61U) + 1, one << 62U, one << 61U, one << 60U}) {
    const std::span<double> wrong = of_length(count);
    rejected("allreduce", "inout", count, [&] { allreduce(comm_, wrong, ReduceOp::sum); });
    rejected("bcast", "data", count, [&] { bcast(comm_, wrong, 0); });
    rejected("bcast", "data", count, [&] { static_cast<void>(ibcast(comm_, wrong, 0)); });
    rejected("bcast", "data", count, [&] { static_cast<void>(bcast_init(comm_, wrong, 0)); });
    rejected("gather", "in", count, [&] { gather(comm_, wrong, of_length(0), 0); });
    rejected("scatter", "out", count, [&] { scatter(comm_, of_length(0), wrong, 0); });
    rejected("allgather", "in", count, [&] { allgather(comm_, wrong, of_length(0)); });
    rejected("alltoall", "in", count, [&] { alltoall(comm_, wrong, of_length(0)); });
    rejected("reduce_scatter_block", "out", count,
             [&] { reduce_scatter_block(comm_, of_length(0), wrong, ReduceOp::sum); });
    rejected("scan", "inout", count, [&] { scan(comm_, wrong, ReduceOp::sum); });
    std::vector<std::size_t> counts(static_cast<std::size_t>(comm_.size()));
    counts.at(0) = count;
    rejected("allgatherv", "out", count, [&] { allgatherv(comm_, of_length(0), wrong, counts); });
    rejected("gatherv", "in", count, [&] { gatherv(comm_, wrong, of_length(0), counts, 0); });
    rejected("scatterv", "out", count, [&] { scatterv(comm_, of_length(0), counts, wrong, 0); });
    rejected("alltoallv", "in", count, [&] { alltoallv(comm_, wrong, counts, of_length(0), counts); });
    rejected("reduce_scatter", "in", count, [&] { reduce_scatter(comm_, wrong, of_length(0), counts, ReduceOp::sum); });
    expect_rejected([&] { allgatherv(comm_, of_length(0), data, counts); }, ErrorCode::invalid_argument,
                    {"allgatherv", "argument blocks: the block of rank 0", "was a negative number converted?"});
    std::vector<std::span<std::byte>> blocks(counts.size());
    blocks.at(0) = std::span(reinterpret_cast<std::byte*>(data.data()), count);
    expect_rejected([&] { alltoallw(comm_, blocks); }, ErrorCode::invalid_argument,
                    {"alltoallw", "argument inout: the block of rank 0", "was a negative number converted?"});
  }
}

// What a call does not look at may be anything.
TEST_F(WrongArguments, LengthsThatOnlyTheRootLooksAt) {
  std::array<double, 8> data{};
  const std::span<double> wrong(data.data(), std::size_t{0} - 1);
  std::vector<double> all(static_cast<std::size_t>(comm_.size()));
  const bool root = comm_.rank() == 0;
  gather(comm_, std::span(data).first(1), root ? std::span(all) : wrong, 0);
  scatter(comm_, root ? std::span(all) : wrong, std::span(data).first(1), 0);
}

TEST_F(WrongArguments, Roots) {
  for (const int root : {-1, comm_.size()}) {
    const std::vector<std::string> words = {fmt::format(
        "argument root is {}; the communicator has ranks 0 to {}: pass one of them", root, comm_.size() - 1)};
    expect_rejected([&] { bcast(comm_, out_, root); }, ErrorCode::invalid_argument, words);
    expect_rejected([&] { static_cast<void>(ibcast(comm_, out_, root)); }, ErrorCode::invalid_argument, words);
    expect_rejected([&] { reduce(comm_, in_, out_, ReduceOp::sum, root); }, ErrorCode::invalid_argument, words);
    expect_rejected([&] { gather(comm_, in_, out_, root); }, ErrorCode::invalid_argument, words);
    expect_rejected([&] { scatter(comm_, in_, out_, root); }, ErrorCode::invalid_argument, words);
  }
}

TEST_F(WrongArguments, OperationsThatTheTypeDoesNotHave) {
  expect_rejected([&] { allreduce(comm_, out_, ReduceOp::bitwise_and); }, ErrorCode::invalid_argument,
                  {"allreduce",
                   "argument op: bitwise_and is not defined for float32 elements; there are sum, product, "
                   "min, max, average"});
  std::array<bool, 2> flags{};
  expect_rejected([&] { allreduce(comm_, flags, ReduceOp::average); }, ErrorCode::invalid_argument,
                  {"allreduce", "argument op", "average", "boolean"});
  expect_rejected([&] { scan(comm_, flags, ReduceOp::average); }, ErrorCode::invalid_argument,
                  {"scan", "argument op", "average", "boolean"});
  std::array<int, 2> numbers{};
  expect_rejected([&] { allreduce(comm_, numbers, static_cast<ReduceOp>(reduce_op_count)); },
                  ErrorCode::invalid_argument, {"allreduce", "argument op", "which is no ReduceOp"});
}

TEST_F(WrongArguments, UnknownAlgorithm) {
  const std::vector<std::string> words = {"allreduce on rank", "option algorithm", "\"rign\"", "did you mean \"ring\"",
                                          "native"};
  const CollectiveOptions options{.algorithm = "rign"};
  expect_rejected([&] { static_cast<void>(iallreduce(comm_, out_, ReduceOp::sum, options)); },
                  ErrorCode::invalid_argument, words);
  expect_rejected([&] { allreduce(comm_, out_, ReduceOp::sum, options); }, ErrorCode::invalid_argument, words);
}

TEST_F(WrongArguments, NegativeTimeout) {
  const std::vector<std::string> words = {"allreduce on rank", "option timeout is negative"};
  const CollectiveOptions options{.timeout = std::chrono::nanoseconds(-1)};
  const auto invalid = ErrorCode::invalid_argument;
  expect_rejected([&] { allreduce(comm_, out_, ReduceOp::sum, options); }, invalid, words);
  expect_rejected([&] { static_cast<void>(iallreduce(comm_, out_, ReduceOp::sum, options)); }, invalid, words);
  expect_rejected([&] { static_cast<void>(allreduce_init(comm_, out_, ReduceOp::sum, options)); }, invalid, words);
}

TEST_F(WrongArguments, AlgorithmThatCannotDoIt) {
  const CollectiveOptions options{.algorithm = "line"};
  const std::vector<std::string> words = {"allreduce on rank", "line cannot carry out allreduce of 64 float32 by sum",
                                          ": it carries 14 such elements at most; leave the choice to the library"};
  expect_rejected([&] { allreduce(comm_, out_, ReduceOp::sum, options); }, ErrorCode::not_supported, words);
  expect_rejected([&] { iallreduce(comm_, out_, ReduceOp::sum, options).wait(); }, ErrorCode::not_supported, words);
}

TEST_F(WrongArguments, AlgorithmsForMemoryOfGpus) {
  for (const std::string_view algorithm : {"staged", "nccl", "ipc_one_shot", "ipc_two_shot"}) {
    expect_rejected([&] { allreduce(comm_, out_, ReduceOp::sum, {.algorithm = algorithm}); }, ErrorCode::not_supported,
                    {fmt::format("{} cannot carry out allreduce", algorithm), ": it is for memory of GPUs"});
  }
}

TEST_F(WrongArguments, NegativeColors) {
  for (const int color : {-1, MPI_UNDEFINED}) {
    expect_rejected([&] { static_cast<void>(comm_.split(color)); }, ErrorCode::invalid_argument,
                    {"split", fmt::format("argument color is {}; give 0 or more, or std::nullopt", color)});
  }
}

TEST(FromMpi, RefusesWhatItCannotUse) {
  expect_error(outcome_of([] { static_cast<void>(from_mpi(MPI_COMM_NULL)); }), ErrorCode::invalid_argument,
               {"from_mpi", "argument comm is MPI_COMM_NULL"});
  const int half = job_rank() % 2;
  const OwnedComm mine(half, job_rank());
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Intercomm_create(mine.get(), 0, MPI_COMM_WORLD, 1 - half, 0, &between);
  expect_error(outcome_of([&] { static_cast<void>(from_mpi(between)); }), ErrorCode::invalid_argument,
               {"from_mpi", "an intercommunicator"});
  MPI_Comm_free(&between);
}

}  // namespace
}  // namespace chorus::test
