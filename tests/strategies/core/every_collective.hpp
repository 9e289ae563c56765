// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/replicas.hpp"

#include <chorus/float16.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

namespace chorus::test {

/// Every collective of a strategy, of ones of type `T`, of which there are some or none.
template <class T>
void expect_every_collective(Strategy& strategy) {
  using testing::Each;
  const auto count = static_cast<std::size_t>(strategy.num_replicas_in_sync());
  const T one(1);
  const T sum(static_cast<float>(count));
  std::vector<ReduceOp> ops{ReduceOp::sum, ReduceOp::min, ReduceOp::max};
  if constexpr (!std::is_integral_v<T>) ops.push_back(ReduceOp::average);
  for (const std::size_t length : {0U, 1U, 5U}) {
    const std::vector<T> ones(length, one);
    const auto values = strategy.run([&] { return ones; });
    const std::vector<T> all(count * length, one);
    EXPECT_EQ(strategy.gather(values, 0), all);
    for (const ReduceOp op : ops) {
      SCOPED_TRACE(name(op));
      const std::vector<T> expected(length, op == ReduceOp::sum ? sum : one);
      EXPECT_EQ(strategy.reduce(op, values), expected);
      EXPECT_THAT(strategy.extended().reduce_to(op, values).values(), Each(expected));
      const auto several = strategy.extended().batch_reduce_to(op, std::vector{values, values});
      for (const auto& mirrored : several) EXPECT_THAT(mirrored.values(), Each(expected));
      if constexpr (std::is_integral_v<T>) {  // sums of many numbers of 16 bits would lose their digits
        const T in_all(op == ReduceOp::sum ? static_cast<float>(count * length) : 1.0F);
        if (length > 0) {
          EXPECT_EQ(strategy.reduce(op, values, 0), in_all);
        }
      }
      const auto inside = strategy.run([&] {
        EXPECT_EQ(get_replica_context()->all_reduce(op, one), op == ReduceOp::sum ? sum : one);
        return get_replica_context()->all_reduce(op, ones);
      });
      EXPECT_THAT(inside.values(), Each(expected));
    }
    EXPECT_THAT(strategy.extended().broadcast_to(ones).values(), Each(ones));
    const auto gathered = strategy.run([&] { return get_replica_context()->all_gather(ones, 0); });
    EXPECT_THAT(gathered.values(), Each(all));
  }
}

/// The same of the types that are shorter than those of C++, and of some others.
inline void expect_every_collective_of_small_types(Strategy& strategy) {
  expect_every_collective<std::int8_t>(strategy);
  expect_every_collective<std::uint8_t>(strategy);
  expect_every_collective<float16_t>(strategy);
  expect_every_collective<bfloat16_t>(strategy);
  expect_every_collective<std::int64_t>(strategy);
}

/// Those of bool, which is no number to add up.
inline void expect_every_collective_of_bool(Strategy& strategy) {
  using testing::Each;
  const bool alone = strategy.num_replicas_in_sync() == 1;
  const auto first = strategy.run([] { return id() == 0; });
  EXPECT_TRUE(strategy.reduce(ReduceOp::max, first)) << "any";
  EXPECT_EQ(strategy.reduce(ReduceOp::min, first), alone) << "all";
  EXPECT_THAT(strategy.extended().reduce_to(ReduceOp::max, first).values(), Each(true));
  EXPECT_THAT(strategy.extended().broadcast_to(true).values(), Each(true));
  const auto inside = strategy.run(
      [](bool mine) {
        return std::tuple(get_replica_context()->all_reduce(ReduceOp::max, mine),
                          get_replica_context()->all_reduce(ReduceOp::min, mine));
      },
      first);
  EXPECT_THAT(inside.values(), Each(std::tuple(true, alone)));
}

}  // namespace chorus::test
