// SPDX-License-Identifier: Apache-2.0
#include "base/call.hpp"

#include "base/names.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace chorus {
namespace {

std::vector<std::size_t> plausible_counts() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 64; ++count) counts.push_back(count);
  for (unsigned power = 7; power <= 40; ++power) {
    for (const std::size_t near : {-1, 0, 1}) counts.push_back((std::size_t{1} << power) + near);
  }
  for (std::size_t round = 100; round <= 1'000'000'000; round *= 10) counts.push_back(round);
  return counts;
}

/// Calls that programs make: what a collective does not look at has its default.
std::vector<Call> plausible_calls() {
  const std::vector<std::size_t> counts = plausible_counts();
  std::vector<Call> calls = {Call{}};
  for (int kind = static_cast<int>(Collective::bcast); kind < collective_count; ++kind) {
    const auto collective = static_cast<Collective>(kind);
    for (int type = 0; type < data_type_count; ++type) {
      for (int op = 0; op < (has_op(collective) ? reduce_op_count : 1); ++op) {
        for (const int root : {0, 1, 2, 3, 7, 64, 1023}) {
          if (root > 0 && !has_root(collective)) continue;
          for (const std::size_t count : counts) {
            calls.push_back({collective, static_cast<DataType>(type), static_cast<ReduceOp>(op), root, count});
          }
        }
      }
    }
  }
  return calls;
}

TEST(PackedCall, HasAllOfACall) {
  for (Call call : plausible_calls()) {
    for (const auto repeatability : {Repeatability::none, Repeatability::deterministic, Repeatability::reproducible}) {
      call.repeatability = repeatability;
      EXPECT_EQ(unpacked(packed(call)), call) << describe(call);
    }
  }
  const Call extreme{.collective = splitting,
                     .type = DataType::opaque,
                     .op = ordered_function,
                     .root = -1,
                     .count = ~std::size_t{0},
                     .algorithm = 255,
                     .repeatability = Repeatability::reproducible,
                     .opaque_bytes = ~std::uint32_t{0},
                     .purpose = ~std::uint32_t{0} - 1};
  EXPECT_EQ(unpacked(packed(extreme)), extreme);
}

TEST(Signature, DiffersForEveryTwoPlausibleCalls) {
  std::unordered_map<std::uint64_t, Call> seen;
  for (const Call& call : plausible_calls()) {
    const auto [at, is_new] = seen.emplace(signature(packed(call)), call);
    EXPECT_TRUE(is_new) << describe(call) << " is signed like " << describe(at->second);
  }
  EXPECT_GT(seen.size(), 200'000U);
}

TEST(Signature, DiffersForWhatIsAskedOfTheBits) {
  Call call{Collective::allreduce, DataType::float64, ReduceOp::sum, 0, 100};
  const std::uint64_t plain = signature(packed(call));
  call.repeatability = Repeatability::deterministic;
  const std::uint64_t deterministic = signature(packed(call));
  EXPECT_NE(deterministic, plain);
  EXPECT_EQ(describe(call), "allreduce of 100 float64 by sum, deterministic");
  call.repeatability = Repeatability::reproducible;
  EXPECT_NE(signature(packed(call)), plain);
  EXPECT_NE(signature(packed(call)), deterministic);
  EXPECT_EQ(describe(call), "allreduce of 100 float64 by sum, reproducible");
}

TEST(Signature, DiffersForPurposes) {
  Call call{Collective::allreduce, DataType::float64, ReduceOp::sum, 0, 100};
  std::unordered_map<std::uint64_t, std::uint32_t> seen;
  for (std::uint32_t purpose = 0; purpose < 100'000; ++purpose) {
    call.purpose = purpose;
    EXPECT_TRUE(seen.emplace(signature(packed(call)), purpose).second) << purpose;
  }
}

TEST(Signature, FitsInFortyBitsAndIsTheSameForEqualCalls) {
  for (const std::size_t count : plausible_counts()) {
    const Call call{Collective::allreduce, DataType::float64, ReduceOp::sum, 0, count};
    EXPECT_EQ(signature(packed(call)) >> 40U, 0U);
    EXPECT_EQ(signature(packed(call)), signature(packed(Call(call))));
  }
}

/// How many places of a table as small as those of the library `calls` take.
std::size_t places_taken_by(const std::vector<Call>& calls) {
  std::unordered_set<std::uint64_t> places;
  for (const Call& call : calls) places.insert(kind_hash(call) % 64);
  return places.size();
}

TEST(KindHash, SpreadsWhatDiffersInOneFieldAlone) {
  const Call plain{Collective::allreduce, DataType::float64, ReduceOp::sum, 0, 1000};
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20U}) {
    std::vector<Call> collectives, operations, types;
    for (int kind = 0; kind < collective_count; ++kind) {
      collectives.push_back({static_cast<Collective>(kind), plain.type, plain.op, 0, count});
    }
    for (int op = 0; op < reduce_op_count; ++op) {
      operations.push_back({plain.collective, plain.type, static_cast<ReduceOp>(op), 0, count});
    }
    for (int type = 0; type < data_type_count; ++type) {
      types.push_back({plain.collective, static_cast<DataType>(type), plain.op, 0, count});
    }
    for (const std::vector<Call>& calls : {collectives, operations, types}) {
      EXPECT_GT(3 * places_taken_by(calls), 2 * calls.size()) << count;
    }
  }
  std::vector<Call> lengths;
  for (unsigned power = 0; power <= 30; ++power) {
    lengths.push_back({plain.collective, plain.type, plain.op, 0, std::size_t{1} << power});
  }
  EXPECT_GT(3 * places_taken_by(lengths), 2 * lengths.size());
}

TEST(Call, CountsElementsAndKnowsTheirBytes) {
  EXPECT_EQ((Call{Collective::bcast, DataType::float64, ReduceOp::sum, 0, 3}.bytes()), 24U);
  EXPECT_EQ((Call{Collective::bcast, DataType::int8, ReduceOp::sum, 0, std::size_t{1} << 33U}.bytes()),
            std::size_t{1} << 33U);
}

}  // namespace
}  // namespace chorus
