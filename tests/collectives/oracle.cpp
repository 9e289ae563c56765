// SPDX-License-Identifier: Apache-2.0
#include "collectives/oracle.hpp"

#include <algorithm>
#include <stdexcept>

namespace chorus::test {
namespace {

/// Ones and twos, some negative where the type allows it: of 17 ranks six contribute a two, and 2^6 fits everywhere.
std::int64_t factor(std::int64_t mixed, bool negative_too) {
  if (mixed % 3 == 0) return 2;
  return negative_too && mixed % 4 == 1 ? -1 : 1;
}

/// What the first `ranks` ranks give on average.
std::int64_t prefix_average(int ranks, std::int64_t i) { return i % 3 - 1 + (ranks + i) % 2; }

std::int64_t join(ReduceOp op, std::int64_t left, std::int64_t right) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return left + right;
    case ReduceOp::product:
      return left * right;
    case ReduceOp::min:
      return std::min(left, right);
    case ReduceOp::max:
      return std::max(left, right);
    case ReduceOp::logical_and:
      return left != 0 && right != 0 ? 1 : 0;
    case ReduceOp::logical_or:
      return left != 0 || right != 0 ? 1 : 0;
    case ReduceOp::logical_xor:
      return (left != 0) != (right != 0) ? 1 : 0;
    case ReduceOp::bitwise_and:
      return left & right;
    case ReduceOp::bitwise_or:
      return left | right;
    case ReduceOp::bitwise_xor:
      return left ^ right;
  }
  throw std::logic_error("an operation the oracle does not know");
}

}  // namespace

bool is_integer(DataType type) noexcept { return type <= DataType::uint64; }

bool is_signed(DataType type) noexcept {
  return type != DataType::boolean && !(type >= DataType::uint8 && type <= DataType::uint64);
}

bool reduces(Collective collective) noexcept {
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::reduce_scatter_block || collective == Collective::scan ||
         collective == Collective::exscan;
}

std::int64_t contribution(const Call& call, int ranks, int rank, std::size_t index) {
  const auto i = static_cast<std::int64_t>(index);
  const std::int64_t mixed = rank * std::int64_t{37} + i * 11 + i / 97;
  const bool boolean = call.type == DataType::boolean;
  if (!reduces(call.collective)) return boolean ? mixed % 2 : mixed % 101;
  const std::int64_t lowest = is_signed(call.type) ? -2 : 0;
  switch (call.op) {
    case ReduceOp::sum:
      return lowest + mixed % 5;
    case ReduceOp::product:
      return factor(rank + i, is_signed(call.type));
    case ReduceOp::average:  // integers are truncated; of floating types the sum is a multiple of the ranks
      if (is_integer(call.type)) return lowest + mixed % 5;
      if (call.collective == Collective::scan || call.collective == Collective::exscan) {
        return (rank + 1) * prefix_average(rank + 1, i) - rank * prefix_average(rank, i);
      }
      return i % 3 - 1 + ((rank + i) % ranks == 0 ? ranks : 0);
    case ReduceOp::min:
    case ReduceOp::max:
      return boolean ? mixed % 2 : mixed % 101 + lowest * 25;
    case ReduceOp::logical_and:
    case ReduceOp::logical_or:
    case ReduceOp::logical_xor: {  // zeros are rare for `and`, frequent for `or`
      const bool zero = call.op == ReduceOp::logical_or ? mixed % 23 != 0 : mixed % 23 == 0;
      return zero ? 0 : boolean || ranks == 1 ? 1 : 1 + mixed % 7;  // one rank's value stays what it is
    }
    case ReduceOp::bitwise_and:
      return boolean ? (mixed % 23 != 0 ? 1 : 0) : 127 - (std::int64_t{1} << mixed % 23 % 7);
    case ReduceOp::bitwise_or:
    case ReduceOp::bitwise_xor:
      return boolean ? mixed % 2 : mixed % 23 == 0 ? mixed % 128 : 0;
  }
  throw std::logic_error("an operation the oracle does not know");
}

std::int64_t reduction(const Call& call, int ranks, std::size_t index) {
  std::int64_t result = contribution(call, ranks, 0, index);
  for (int rank = 1; rank < ranks; ++rank) result = join(call.op, result, contribution(call, ranks, rank, index));
  return call.op == ReduceOp::average ? result / ranks : result;
}

std::vector<std::int64_t> prefixes(const Call& call, int ranks) {
  const bool own = call.collective == Collective::scan;
  std::vector<std::int64_t> values(static_cast<std::size_t>(ranks) * call.count);
  for (std::size_t i = 0; i < call.count; ++i) {
    std::int64_t before = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::int64_t mine = contribution(call, ranks, rank, i);
      const std::int64_t joined = rank == 0 ? mine : join(call.op, before, mine);
      const int combined = own ? rank + 1 : rank;
      const bool divided = call.op == ReduceOp::average && combined > 0;
      values[static_cast<std::size_t>(rank) * call.count + i] = (own ? joined : before) / (divided ? combined : 1);
      before = joined;
    }
  }
  return values;
}

std::vector<std::byte> elements_of(const std::vector<std::int64_t>& values, DataType type) {
  std::vector<std::byte> elements(values.size() * size_of(type));
  with_type(type, [&]<class T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      T element{};
      if constexpr (std::same_as<T, float16_t> || std::same_as<T, bfloat16_t> || std::same_as<T, std::complex<float>>) {
        element = T(static_cast<float>(values[i]));
      } else {
        element = static_cast<T>(values[i]);
      }
      std::memcpy(elements.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return elements;
}

bool same_elements(const std::byte* left, const std::byte* right, std::size_t count, DataType type) {
  if (count == 0) return true;
  if (type < DataType::long_double) return std::memcmp(left, right, count * size_of(type)) == 0;
  return with_type(type, [&]<class T>(T) {
    for (std::size_t i = 0; i < count; ++i) {
      T values[2];
      std::memcpy(&values[0], left + i * sizeof(T), sizeof(T));
      std::memcpy(&values[1], right + i * sizeof(T), sizeof(T));
      if (values[0] != values[1]) return false;
    }
    return true;
  });
}

}  // namespace chorus::test
