// SPDX-License-Identifier: Apache-2.0
#include "transport/mismatch_report.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace chorus::test {
namespace {

std::string_view name_of(const Call& call) { return call.algorithm == 1 ? "ring" : "line"; }

Call an_allreduce(std::size_t count, std::uint8_t algorithm) {
  return {Collective::allreduce, DataType::float32, ReduceOp::sum, 0, count, algorithm};
}

TEST(MismatchReport, NamesNoAlgorithmWhereTheCallsDiffer) {
  EXPECT_EQ(mismatch_report({{0, an_allreduce(4, 1)}, {1, an_allreduce(5, 2)}, {2, an_allreduce(4, 1)}}, name_of),
            "\n  ranks 0, 2: allreduce of 4 float32 by sum\n  rank 1: allreduce of 5 float32 by sum");
}

TEST(MismatchReport, NamesTheAlgorithmsWhereNothingElseDiffers) {
  EXPECT_EQ(mismatch_report({{0, an_allreduce(4, 1)}, {1, an_allreduce(4, 2)}, {2, an_allreduce(4, 2)}}, name_of),
            "\n  rank 0: allreduce of 4 float32 by sum (algorithm ring)"
            "\n  ranks 1-2: allreduce of 4 float32 by sum (algorithm line)");
}

TEST(MismatchReport, NamesTheChecksumsOfCountsWhereNothingElseDiffers) {
  const Call call{.collective = Collective::reduce_scatter, .type = DataType::float32, .root = 0x1F, .count = 6};
  Call other = call;
  other.root = -1;
  EXPECT_EQ(mismatch_report({{0, call}, {1, other}, {2, call}}, name_of),
            "\n  ranks 0, 2: reduce_scatter of 6 float32 by sum (its counts have the checksum 0000001f)"
            "\n  rank 1: reduce_scatter of 6 float32 by sum (its counts have the checksum ffffffff)");
  EXPECT_EQ(mismatch_report({{0, call}, {1, call}}, name_of), "\n  ranks 0-1: reduce_scatter of 6 float32 by sum");
}

TEST(MismatchReport, TellsRanksInSubsetsApart) {
  const auto subset = [](std::uint64_t rank) { return Call{.collective = choosing_subset, .root = 1, .count = rank}; };
  EXPECT_EQ(mismatch_report({{0, subset(0)}, {1, subset(1)}}, name_of),
            "\n  rank 0: subset of rank 0\n  rank 1: subset of rank 1");
}

TEST(MismatchReport, NamesWhatTheCallsAreFor) {
  Call first = an_allreduce(4, 1);
  Call second = an_allreduce(4, 2);
  first.purpose = 7;
  second.purpose = 8;
  const PurposeText text = [](std::uint32_t number) { return "task " + std::to_string(number); };
  EXPECT_EQ(mismatch_report({{0, first}, {1, second}, {2, an_allreduce(4, 1)}}, name_of, text),
            "\n  rank 0: task 7: allreduce of 4 float32 by sum\n  rank 1: task 8: allreduce of 4 float32 by sum"
            "\n  rank 2: allreduce of 4 float32 by sum");
}

TEST(MismatchReport, TellsPurposesOfOneTextApart) {
  Call first = an_allreduce(4, 1);
  Call second = an_allreduce(4, 2);
  first.purpose = 7;
  second.purpose = 8;
  const PurposeText text = [](std::uint32_t /*number*/) { return std::string("write"); };
  EXPECT_EQ(mismatch_report({{0, second}, {1, first}, {2, second}, {3, an_allreduce(4, 1)}}, name_of, text),
            "\n  ranks 0, 2: write: allreduce of 4 float32 by sum (another of that name)"
            "\n  rank 1: write: allreduce of 4 float32 by sum (one of that name)"
            "\n  rank 3: allreduce of 4 float32 by sum");
}

TEST(MismatchReport, SaysWhoHasNotArrived) {
  EXPECT_EQ(mismatch_report({{0, an_allreduce(4, 1)}, {1, an_allreduce(4, 1)}, {2, std::nullopt}}, name_of),
            "\n  ranks 0-1: allreduce of 4 float32 by sum\n  rank 2: not arrived");
  EXPECT_EQ(mismatch_report({{0, an_allreduce(4, 1)}, {1, an_allreduce(4, 2)}, {2, std::nullopt}}, name_of),
            "\n  rank 0: allreduce of 4 float32 by sum (algorithm ring)"
            "\n  rank 1: allreduce of 4 float32 by sum (algorithm line)\n  rank 2: not arrived");
}

}  // namespace
}  // namespace chorus::test
