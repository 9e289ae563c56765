// SPDX-License-Identifier: Apache-2.0
// Reductions by functions of the caller's, of elements that the library knows by their length only. The function does
// not commute: a result is right only if everything was joined in the order of the ranks.

#include "carry_out.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"

#include <chorus/detail/operation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace chorus::test {
namespace {

/// x -> scale * x + shift, modulo 2^32; of a length that divides neither a cache line nor a slot.
struct Affine {
  std::uint32_t scale;
  std::uint32_t shift;
  std::uint32_t unused;
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// First `left`, then `right`.
struct Compose {
  Affine operator()(const Affine& left, const Affine& right) const {
    return {left.scale * right.scale, left.shift * right.scale + right.shift, left.unused ^ right.unused};
  }
};

Affine contribution(int rank, std::size_t index) {
  const auto r = static_cast<std::uint32_t>(rank);
  const auto i = static_cast<std::uint32_t>(index);
  return {2 * r + 3 + i % 5, 7 * r + i, r << 8U ^ i};
}

Affine composition(int ranks, std::size_t index) {
  Affine result = contribution(0, index);
  for (int rank = 1; rank < ranks; ++rank) result = Compose()(result, contribution(rank, index));
  return result;
}

/// How many ranks, from the first on, the result of `rank` is joined of; 0 where it has none.
int joined_ranks(const Call& call, int ranks, int rank) {
  if (call.collective == Collective::reduce) return rank == call.root ? ranks : 0;
  if (call.collective == Collective::scan) return rank + 1;
  if (call.collective == Collective::exscan) return rank;
  return ranks;
}

struct Buffers {
  std::vector<Affine> in;
  std::vector<Affine> out;
};

/// What this rank puts in; `out` has room for the longest result and is `in` where the call is in place.
Buffers buffers_of(const Call& call, const Transport& transport, bool in_place) {
  const bool blocks = call.collective == Collective::reduce_scatter_block;
  const std::size_t count = call.count * static_cast<std::size_t>(blocks ? transport.size() : 1);
  Buffers buffers;
  for (std::size_t i = 0; i < count; ++i) buffers.in.push_back(contribution(transport.rank(), i));
  buffers.out = in_place ? buffers.in : std::vector<Affine>(call.count);
  return buffers;
}

Task<> perform(const Algorithm& algorithm, Transport& transport, const Call& call, bool in_place) {
  const Compose compose;
  Buffers buffers = buffers_of(call, transport, in_place);
  auto* const out = reinterpret_cast<std::byte*>(buffers.out.data());
  const Arguments arguments{.call = call,
                            .in = in_place ? out : reinterpret_cast<const std::byte*>(buffers.in.data()),
                            .out = out,
                            .join = detail::join<Compose, Affine>,
                            .function = &compose};
  co_await carry_out(algorithm, transport, arguments);
  const int joined = joined_ranks(call, transport.size(), transport.rank());
  if (joined == 0) co_return;
  const std::size_t first =
      call.collective == Collective::reduce_scatter_block ? static_cast<std::size_t>(transport.rank()) * call.count : 0;
  for (std::size_t i = 0; i < call.count; ++i) {
    if (buffers.out[i] == composition(joined, first + i)) continue;
    throw std::runtime_error("not joined in the order of the ranks");
  }
}

Call call_of(Collective collective, std::size_t count, int root) {
  return {.collective = collective,
          .type = DataType::opaque,
          .op = ordered_function,
          .root = root,
          .count = count,
          .opaque_bytes = sizeof(Affine)};
}

class Functions : public testing::TestWithParam<MatrixCase> {};

TEST_P(Functions, AreJoinedInTheOrderOfTheRanks) {
  const MatrixCase& each = GetParam();
  const Collective collective = [&] {
    for (int index = 0; index < even_collective_count; ++index) {
      const auto of_index = algorithms(static_cast<Collective>(index));
      if (std::ranges::find(of_index, each.algorithm) != of_index.end()) return static_cast<Collective>(index);
    }
    throw std::logic_error("an algorithm of no collective");
  }();
  const std::unique_ptr<World> world = make_world({.kind = each.kind, .ranks = each.ranks});
  world->run([&](Transport& transport) -> Task<> {
    for (const std::size_t count : {0, 1, 4, 5, 85, 86, 700}) {
      for (const int root : roots_for(collective, each.ranks)) {
        const Call call = call_of(collective, count, root);
        if (!each.algorithm->applies(problem_of(call, transport))) continue;
        co_await perform(*each.algorithm, transport, call, false);
        co_await perform(*each.algorithm, transport, call, true);
      }
    }
  });
}

std::vector<MatrixCase> reductions() {
  std::vector<MatrixCase> cases;
  for (int index = 0; index < even_collective_count; ++index) {
    if (!reduces(static_cast<Collective>(index))) continue;
    for (const MatrixCase& matrix_case : matrix_of(static_cast<Collective>(index))) cases.push_back(matrix_case);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(AllReductions, Functions, testing::ValuesIn(reductions()),
                         [](const auto& info) { return name_of(info) + "_" + std::to_string(info.index); });

/// Every collective that reduces has an algorithm for such a function in shared memory, and one by messages.
TEST(OrderedFunctions, HaveAnAlgorithmWhereverRanksAre) {
  for (int index = 0; index < even_collective_count; ++index) {
    const auto collective = static_cast<Collective>(index);
    if (!reduces(collective)) continue;
    for (const bool shared : {true, false}) {
      const Problem problem{.call = call_of(collective, 100, 0),
                            .ranks = 6,
                            .nodes = shared ? 1 : 3,
                            .largest_node = shared ? 6 : 2,
                            .shared = shared,
                            .slot_bytes = 1024};
      EXPECT_TRUE(std::ranges::any_of(algorithms(collective), [&](const auto* it) { return it->applies(problem); }));
    }
  }
}

}  // namespace
}  // namespace chorus::test
