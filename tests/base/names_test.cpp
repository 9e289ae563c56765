// SPDX-License-Identifier: Apache-2.0
#include "base/names.hpp"
#include "base/listed_ranks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace chorus {
namespace {

TEST(Names, EveryEnumeratorHasItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < collective_count; ++i) names.insert(name(static_cast<Collective>(i)));
  for (int i = 0; i < data_type_count; ++i) names.insert(name(static_cast<DataType>(i)));
  for (int i = 0; i < reduce_op_count; ++i) names.insert(name(static_cast<ReduceOp>(i)));
  EXPECT_EQ(names.size(), std::size_t{collective_count + data_type_count + reduce_op_count});
}

TEST(Names, AreThoseOfTheSource) {
  EXPECT_EQ(name(Collective::reduce_scatter_block), "reduce_scatter_block");
  EXPECT_EQ(name(DataType::boolean), "boolean");
  EXPECT_EQ(name(DataType::bfloat16), "bfloat16");
  EXPECT_EQ(name(DataType::long_double), "long_double");
  EXPECT_EQ(name(ReduceOp::sum), "sum");
  EXPECT_EQ(name(ReduceOp::bitwise_xor), "bitwise_xor");
}

TEST(Names, OfNothingKnownAreUnknown) {
  EXPECT_EQ(name(static_cast<Collective>(collective_count)), "unknown");
  EXPECT_EQ(name(static_cast<DataType>(255)), "unknown");
  EXPECT_EQ(name(static_cast<ReduceOp>(reduce_op_count)), "unknown");
}

TEST(Names, OfCollectivesGoBothWays) {
  for (int i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(collective_named(name(collective)), collective);
    EXPECT_EQ(collective_names()[static_cast<std::size_t>(i)], name(collective));
  }
  EXPECT_EQ(collective_named("Allreduce"), std::nullopt);
  EXPECT_EQ(collective_named(""), std::nullopt);
}

TEST(NotUnderstood, NamesTheOptionThatWasMeant) {
  const std::vector<std::string> options = {"COLLECTIVE", "--algorithm", "--plot", "-h"};
  const auto text = [&](const std::vector<std::string>& words) { return not_understood(words, options); };
  EXPECT_EQ(text({"--algoritm", "ring"}), "not understood: --algoritm ring; did you mean --algorithm?");
  EXPECT_EQ(text({"--Plot=a.svg"}), "not understood: --Plot=a.svg; did you mean --plot?");
  EXPECT_EQ(text({"--nonsense", "--plt"}), "not understood: --nonsense --plt");
  EXPECT_EQ(text({"-H"}), "not understood: -H");
  EXPECT_EQ(text({"collective"}), "not understood: collective");
}

TEST(Describe, SaysWhatMattersToTheCollective) {
  EXPECT_EQ(describe({Collective::barrier, DataType::float32, ReduceOp::max, 1, 0}), "barrier");
  EXPECT_EQ(describe({Collective::bcast, DataType::float32, ReduceOp::max, 2, 4}), "bcast of 4 float32 with root 2");
  EXPECT_EQ(describe({Collective::reduce, DataType::int8, ReduceOp::min, 3, 1}), "reduce of 1 int8 by min with root 3");
  EXPECT_EQ(describe({Collective::allreduce, DataType::float64, ReduceOp::sum, 0, std::size_t{1} << 40U}),
            "allreduce of 1099511627776 float64 by sum");
  EXPECT_EQ(describe({Collective::allgather, DataType::boolean, ReduceOp::sum, 0, 7}), "allgather of 7 boolean");
  EXPECT_EQ(describe({Collective::reduce_scatter_block, DataType::uint16, ReduceOp::average, 0, 7}),
            "reduce_scatter_block of 7 uint16 by average");
  EXPECT_EQ(describe({Collective::alltoall, DataType::int8, ReduceOp::sum, 0, 7}), "alltoall of 7 int8");
  EXPECT_EQ(describe({Collective::gather, DataType::int8, ReduceOp::sum, 2, 7}), "gather of 7 int8 with root 2");
  EXPECT_EQ(describe({Collective::scatter, DataType::int8, ReduceOp::sum, 1, 7}), "scatter of 7 int8 with root 1");
  EXPECT_EQ(describe({Collective::scan, DataType::int8, ReduceOp::max, 0, 7}), "scan of 7 int8 by max");
  EXPECT_EQ(describe({Collective::exscan, DataType::int8, ReduceOp::sum, 0, 7}), "exscan of 7 int8 by sum");
}

TEST(Describe, NamesTheRanksOfASubsetWhereTheyAreFew) {
  const auto text = [](const std::vector<int>& ranks) {
    return describe(
        {.collective = choosing_subset, .root = static_cast<int>(ranks.size()), .count = number_of_list(ranks)});
  };
  EXPECT_EQ(text({}), "subset of no ranks");
  EXPECT_EQ(text({2147483647}), "subset of rank 2147483647");
  EXPECT_EQ(text({1, 0}), "subset of ranks 1, 0");
  EXPECT_EQ(text({1000000, 0, 7}), "subset of ranks 1000000, 0, 7");
  EXPECT_EQ(text({8, 7, 6, 5, 4, 3, 2, 1, 127}), "subset of ranks 8, 7, 6, 5, 4, 3, 2, 1, 127");
  EXPECT_TRUE(text({8, 7, 6, 5, 4, 3, 2, 1, 128}).starts_with("subset of 9 ranks whose list has the checksum "));
  std::vector<int> many(100);
  EXPECT_TRUE(text(many).starts_with("subset of 100 ranks whose list has the checksum "));
  const std::string before = text(many);
  many.back() = 1;
  EXPECT_NE(text(many), before);
}

TEST(Nearest, HasTheFewestEdits) {
  constexpr std::array<std::string_view, 4> known = {"ring", "line", "native", "recursive_doubling"};
  EXPECT_EQ(nearest("rnig", known), "ring");
  EXPECT_EQ(nearest("lin", known), "line");
  EXPECT_EQ(nearest("natives", known), "native");
  EXPECT_EQ(nearest("recursive-doubling", known), "recursive_doubling");
  EXPECT_EQ(nearest("native", known), "native");
  EXPECT_EQ(nearest("RING", known), "ring");
}

TEST(Nearest, HasAWordMoreOrLess) {
  constexpr std::array<std::string_view, 6> known = {"REDUCE", "REDUCE_SCATTER", "TUNING_FILE",
                                                     "LOG",    "CUDA_LIBRARY",   "NCCL_LIBRARY"};
  EXPECT_EQ(nearest("ALGORITHM_REDUCE", known), "REDUCE");
  EXPECT_EQ(nearest("ALGORITHM_REDUCE_SCATTER", known), "REDUCE_SCATTER");
  EXPECT_EQ(nearest("TUNING", known), "TUNING_FILE");
  EXPECT_EQ(nearest("LOG_LEVEL", known), "LOG");
  EXPECT_EQ(nearest("LIBRARY", known), "");
}

TEST(Nearest, IsNoneWhereNothingLooksLikeTheWord) {
  constexpr std::array<std::string_view, 3> known = {"ring", "line", "native"};
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("coloring", known), "");
  EXPECT_EQ(nearest("tree", known), "");
  EXPECT_EQ(nearest("naïv", known), "");
  EXPECT_EQ(nearest("ring", {}), "");
}

TEST(Suggestion, NamesAllThereAre) {
  constexpr std::array<std::string_view, 3> known = {"ring", "line", "native"};
  EXPECT_EQ(suggestion("rnig", known), "did you mean \"ring\"? There are ring, line, native");
  EXPECT_EQ(suggestion("tree", known), "there are ring, line, native");
}

TEST(Joined, PutsCommasBetween) {
  constexpr std::array<std::string_view, 3> words = {"ring", "line", "native"};
  EXPECT_EQ(joined(words), "ring, line, native");
  EXPECT_EQ(joined(std::span(words).first(1)), "ring");
  EXPECT_EQ(joined({}), "");
}

TEST(ParseBytes, ReadsPlainNumbersAndUnits) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("8"), 8U);
  EXPECT_EQ(parse_bytes("8B"), 8U);
  for (const char* text : {"64k", "64K", "64kB", "64Kb", "64KiB", "64kib"})
    EXPECT_EQ(parse_bytes(text), 65536U) << text;
  EXPECT_EQ(parse_bytes("1MiB"), 1048576U);
  EXPECT_EQ(parse_bytes("3G"), 3221225472U);
  EXPECT_EQ(parse_bytes("007k"), 7168U);
}

TEST(ParseBytes, ReadsUpToTheLargestCount) {
  EXPECT_EQ(parse_bytes("18446744073709551615"), std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(parse_bytes("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_bytes("17179869183g"), std::size_t{17179869183} << 30U);
  EXPECT_EQ(parse_bytes("17179869184g"), std::nullopt);
  EXPECT_EQ(parse_bytes("18014398509481984k"), std::nullopt);
}

TEST(ParseBytes, RejectsEverythingElse) {
  for (const char* text : {"",     " ",   "k",   "B",   "-1", "+1",    " 8", "8 ", "8 k",   "1.5k", "1e3",
                           "0x10", "8kk", "8bb", "8ki", "8i", "8kiBs", "8t", "8q", "eight", "8\n",  "k8"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << '"' << text << '"';
  }
  EXPECT_EQ(parse_bytes(std::string_view("8\0", 2)), std::nullopt);
}

}  // namespace
}  // namespace chorus
