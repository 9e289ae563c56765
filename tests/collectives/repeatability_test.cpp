// SPDX-License-Identifier: Apache-2.0
// Reductions whose bits must not depend on the algorithm, the order of the ranks or their number.

#include "repeatability.hpp"

#include "carry_out.hpp"
#include "choose.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"
#include "wider_elements.hpp"
#include "worlds/divided_nodes.hpp"

#include <chorus/exact_sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace chorus::test {
namespace {

constexpr std::array counts = {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{150}};

/// Numbers without pattern (splitmix64: Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t scrambled(std::uint64_t number) {
  number = (number + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  number = (number ^ number >> 27U) * 0x94D049BB133111EBU;
  return number ^ number >> 31U;
}

/// Element `index` of what `rank` gives: of any size, and such that much cancels.
template <class T>
T contribution_of(int rank, std::size_t index) {
  using Limits = std::numeric_limits<T>;
  const std::uint64_t random = scrambled(index * 64 + static_cast<std::size_t>(rank) / 2);
  const auto small = static_cast<T>(random % 1000) / 7;
  if (index % 5 == 0) return small * static_cast<T>(rank + 1);
  const auto exponents = static_cast<std::uint64_t>(Limits::max_exponent - Limits::min_exponent - 1);
  const int exponent = Limits::min_exponent + static_cast<int>((random >> 32U) % exponents);
  const T value = std::ldexp(1 + static_cast<T>(random % 65'521) / T{65'521}, exponent);
  return rank % 2 == 0 ? value : small - value;
}

/// The ranks, from the first on, that the result of `rank` is made of; 0 where it has none.
int joined_ranks(const Call& call, int ranks, int rank) {
  if (call.collective == Collective::reduce) return rank == call.root ? ranks : 0;
  if (call.collective == Collective::scan) return rank + 1;
  if (call.collective == Collective::exscan) return rank;
  return ranks;
}

/// In the order of the ranks, which does not matter, backwards.
template <class T>
T expected(const Call& call, int joined, std::size_t index) {
  ExactSum<T> sum;
  for (int rank = joined - 1; rank >= 0; --rank) sum += contribution_of<T>(rank, index);
  return call.op == ReduceOp::average ? sum.value() / static_cast<T>(joined) : sum.value();
}

/// One call on one rank; throws where the result is wrong. A complex type has two numbers an element.
template <class T>
Task<> perform(const Algorithm& algorithm, Transport& transport, Call call, bool in_place) {
  const std::size_t parts = size_of(call.type) / sizeof(T);
  const bool blocks = call.collective == Collective::reduce_scatter_block;
  const std::size_t numbers = call.count * parts;
  std::vector<T> in;
  for (std::size_t i = 0; i < numbers * static_cast<std::size_t>(blocks ? transport.size() : 1); ++i) {
    in.push_back(contribution_of<T>(transport.rank(), i));
  }
  std::vector<T> out = in_place ? in : std::vector<T>(numbers);
  auto* const result = reinterpret_cast<std::byte*>(out.data());
  const Arguments arguments{
      .call = call, .in = in_place ? result : reinterpret_cast<const std::byte*>(in.data()), .out = result};
  co_await carry_out(algorithm, transport, arguments);
  const int joined = joined_ranks(call, transport.size(), transport.rank());
  const std::size_t first = blocks ? static_cast<std::size_t>(transport.rank()) * numbers : 0;
  for (std::size_t i = 0; i < (joined > 0 ? numbers : 0); ++i) {
    const T right = expected<T>(call, joined, first + i);
    if (std::memcmp(&right, &out[i], sizeof right) != 0) throw std::runtime_error("other bits than those of the sum");
  }
}

Task<> perform(const Algorithm& algorithm, Transport& transport, const Call& call, bool in_place) {
  const bool single = call.type == DataType::float32 || call.type == DataType::complex64;
  if (single) {
    co_await perform<float>(algorithm, transport, call, in_place);
  } else {
    co_await perform<double>(algorithm, transport, call, in_place);
  }
}

bool solves(const Algorithm& algorithm, const Problem& problem) {
  return algorithm.applies(carries_wider(algorithm, problem) ? with_wider_elements(problem) : problem);
}

class Reproducible : public testing::TestWithParam<std::tuple<Collective, int>> {};

TEST_P(Reproducible, HasTheBitsOfTheExactSumByEveryAlgorithm) {
  const auto [collective, ranks] = GetParam();
  std::size_t performed = 0;
  for (const NamedWorld& named : every_world(ranks)) {
    SCOPED_TRACE(named.name);
    const std::unique_ptr<World> world = make_world(named.options);
    for (const Algorithm* const algorithm : algorithms(collective)) {
      for (const DataType type : {DataType::float32, DataType::float64, DataType::complex64, DataType::complex128}) {
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
          for (const std::size_t count : counts) {
            const Call plain{.collective = collective, .type = type, .op = op, .root = ranks / 2, .count = count};
            const Call call =
                asking_for(Repeatability::reproducible,
                           collective == Collective::reduce ? plain : Call{collective, type, op, 0, count});
            ASSERT_EQ(call.repeatability, Repeatability::reproducible);
            if (!solves(*algorithm, problem_of(call, world->transport(0)))) continue;
            // Each count for one of the two operations.
            const bool in_place = (performed / counts.size() + performed) % 2 == 1;
            ++performed;
            world->run(
                [&](Transport& transport) -> Task<> { co_await perform(*algorithm, transport, call, in_place); });
          }
        }
      }
    }
  }
  EXPECT_GE(performed, 3U * 32);
}

INSTANTIATE_TEST_SUITE_P(Every, Reproducible,
                         testing::Combine(testing::Values(Collective::reduce, Collective::allreduce,
                                                          Collective::reduce_scatter_block, Collective::scan,
                                                          Collective::exscan),
                                          testing::Values(1, 2, 3, 4, 5, 6, 7, 8)),
                         name_and_ranks<Collective>);

/// What `rank` gives: rounding after each addition loses the small ones, and the sum of the last is too large for
/// float16_t, whereas the average is not.
float half_contribution(int rank, std::size_t index) {
  if (index % 3 == 2) return 40'000;
  return rank == 0 ? 4096 : index % 3 == 0 ? 1 : 9.25F;
}

/// One call on one rank; throws where the result is not that of float, rounded once.
template <class Half>
Task<> perform_on_halves(const Algorithm& algorithm, Transport& transport, Call call) {
  const bool blocks = call.collective == Collective::reduce_scatter_block;
  const std::size_t all = call.count * static_cast<std::size_t>(blocks ? transport.size() : 1);
  std::vector<Half> in;
  for (std::size_t i = 0; i < all; ++i) in.emplace_back(half_contribution(transport.rank(), i));
  std::vector<Half> out(call.count);
  const Arguments arguments{.call = call,
                            .in = reinterpret_cast<const std::byte*>(in.data()),
                            .out = reinterpret_cast<std::byte*>(out.data())};
  co_await carry_out(algorithm, transport, arguments);
  const int joined = joined_ranks(call, transport.size(), transport.rank());
  const std::size_t first = blocks ? static_cast<std::size_t>(transport.rank()) * call.count : 0;
  for (std::size_t i = 0; i < (joined > 0 ? call.count : 0); ++i) {
    float sum = 0;
    for (int rank = 0; rank < joined; ++rank) sum += float{Half(half_contribution(rank, first + i))};
    const Half right(call.op == ReduceOp::average ? sum / static_cast<float>(joined) : sum);
    if (out[i].bits != right.bits) throw std::runtime_error("rounded more than once");
  }
}

class Halves : public testing::TestWithParam<std::tuple<Collective, int>> {};

TEST_P(Halves, AreRoundedOnceByEveryAlgorithm) {
  const auto [collective, ranks] = GetParam();
  int performed = 0;
  for (const Layout& layout : layouts(ranks)) {
    const std::unique_ptr<World> world = make_world({.ranks = ranks, .nodes = layout.nodes});
    for (const Algorithm* const algorithm : algorithms(collective)) {
      for (const DataType type : {DataType::float16, DataType::bfloat16}) {
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
          for (const std::size_t count : {std::size_t{1}, std::size_t{50}}) {
            const Call call{.collective = collective, .type = type, .op = op, .count = count};
            if (!solves(*algorithm, problem_of(call, world->transport(0)))) continue;
            ++performed;
            world->run([&](Transport& transport) -> Task<> {
              if (type == DataType::float16) {
                co_await perform_on_halves<float16_t>(*algorithm, transport, call);
              } else {
                co_await perform_on_halves<bfloat16_t>(*algorithm, transport, call);
              }
            });
          }
        }
      }
    }
  }
  EXPECT_GE(performed, 3 * 8);
}

INSTANTIATE_TEST_SUITE_P(Every, Halves,
                         testing::Combine(testing::Values(Collective::reduce, Collective::allreduce,
                                                          Collective::reduce_scatter_block, Collective::scan,
                                                          Collective::exscan),
                                          testing::Values(1, 2, 3, 4, 5, 8)),
                         name_and_ranks<Collective>);

/// A long vector does not go at once.
TEST(Reproducible, CarriesLongVectorsInParts) {
  constexpr std::size_t count = 40'000;
  const Call call =
      asking_for(Repeatability::reproducible, {Collective::allreduce, DataType::float64, ReduceOp::sum, 0, count});
  ASSERT_GT(count * sizeof(ExactSum<double>), std::size_t{8} << 20U);
  const auto ring = std::ranges::find(algorithms(Collective::allreduce), "ring", &Algorithm::name);
  on_every_rank({.ranks = 2}, [&](Transport& transport) -> Task<> { co_await perform(**ring, transport, call, true); });
}

/// The same 24 contributions on any number of ranks, each of which adds up its own first.
TEST(Reproducible, DoesNotDependOnTheNumberOfRanks) {
  constexpr int contributions = 24;
  constexpr std::size_t count = 20;
  std::vector<double> right(count);
  for (std::size_t i = 0; i < count; ++i) right[i] = expected<double>({}, contributions, i);
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const Layout& layout : layouts(ranks)) {
      const std::unique_ptr<World> world = make_world({.ranks = ranks, .nodes = layout.nodes});
      const Call call{.collective = Collective::allreduce,
                      .type = DataType::opaque,
                      .op = commutative_function,
                      .count = count,
                      .opaque_bytes = sizeof(ExactSum<double>)};
      for (const Algorithm* const algorithm : algorithms(Collective::allreduce)) {
        if (!algorithm->applies(problem_of(call, world->transport(0)))) continue;
        world->run([&](Transport& transport) -> Task<> {
          std::vector<ExactSum<double>> sums(count);
          for (int each = transport.rank(); each < contributions; each += ranks) {
            for (std::size_t i = 0; i < count; ++i) sums[i] += contribution_of<double>(each, i);
          }
          auto* const inout = reinterpret_cast<std::byte*>(sums.data());
          const Arguments arguments{.call = call,
                                    .in = inout,
                                    .out = inout,
                                    .join = detail::join<Commutative<detail::AddExactly>, ExactSum<double>>,
                                    .function = &exact_sum};
          co_await carry_out(*algorithm, transport, arguments);
          for (std::size_t i = 0; i < count; ++i) {
            if (sums[i].value() != right[i]) throw std::runtime_error("another sum");
          }
        });
      }
    }
  }
}

TEST(AskingFor, LeavesAloneWhatIsTheSameAlways) {
  const auto given = [](Repeatability wanted, Collective collective, DataType type, ReduceOp op) {
    return asking_for(wanted, {.collective = collective, .type = type, .op = op}).repeatability;
  };
  for (const Repeatability wanted : {Repeatability::deterministic, Repeatability::reproducible}) {
    EXPECT_EQ(given(wanted, Collective::allreduce, DataType::int32, ReduceOp::sum), Repeatability::none);
    EXPECT_EQ(given(wanted, Collective::bcast, DataType::float64, ReduceOp::sum), Repeatability::none);
    EXPECT_EQ(given(wanted, Collective::scan, DataType::float64, ReduceOp::product), Repeatability::deterministic);
    EXPECT_EQ(given(wanted, Collective::scan, DataType::float16, ReduceOp::sum), Repeatability::deterministic);
    EXPECT_EQ(given(wanted, Collective::reduce, DataType::opaque, ordered_function), Repeatability::deterministic);
    EXPECT_EQ(given(wanted, Collective::reduce, DataType::int8, commutative_function), Repeatability::deterministic);
    EXPECT_EQ(given(wanted, Collective::reduce, DataType::complex64, ReduceOp::average), wanted);
  }
  EXPECT_EQ(given(Repeatability::none, Collective::allreduce, DataType::float64, ReduceOp::sum), Repeatability::none);
}

TEST(Wanted, IsTheStrictestOfTheCallAndTheEnvironment) {
  EXPECT_EQ(wanted({}, {}), Repeatability::none);
  EXPECT_EQ(wanted({.deterministic = true}, {}), Repeatability::deterministic);
  EXPECT_EQ(wanted({.deterministic = true, .reproducible = true}, {}), Repeatability::reproducible);
  Settings settings;
  settings.deterministic = true;
  EXPECT_EQ(wanted({}, settings), Repeatability::deterministic);
  settings.reproducible = true;
  EXPECT_EQ(wanted({.deterministic = true}, settings), Repeatability::reproducible);
}

}  // namespace
}  // namespace chorus::test
