// SPDX-License-Identifier: Apache-2.0
// Reduce_scatter with blocks of several lengths by every algorithm, on every layout of nodes, in place and not.

#include "carry_out.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"
#include "repeatability.hpp"
#include "wider_elements.hpp"

#include <chorus/exact_sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using Counts = std::vector<std::size_t>;

/// Short ones and none; one for the last rank alone; long ones, which take several rounds and segments.
std::vector<Counts> counts_of_blocks(int ranks) {
  std::vector<Counts> all(3, Counts(static_cast<std::size_t>(ranks)));
  for (std::size_t rank = 0; rank < all[0].size(); ++rank) {
    all[0][rank] = rank % 3 == 1 ? 0 : 300 * rank + 1;
    all[1][rank] = rank + 1 == all[1].size() ? 2500 : 0;
    all[2][rank] = 1600 + 900 * (rank % 7);
  }
  return all;
}

/// Elements of which exact sums, each as long as tens of them, go on the first and the last layout alone.
constexpr std::size_t long_exact_sums = 15'000;

std::size_t sum_of(const Counts& counts) {
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  return sum;
}

template <class T>
std::vector<Section> sections_of(const Counts& counts) {
  std::vector<Section> sections;
  std::size_t end = 0;
  for (const std::size_t count : counts) {
    sections.push_back({end, count * sizeof(T)});
    end += count * sizeof(T);
  }
  return sections;
}

/// Of so few digits that every type has the sums exactly.
float contribution(int rank, std::size_t index) { return static_cast<float>((index * 3 + index / 50) % 11) + rank % 5; }

/// One call on one rank; throws where the result is wrong.
template <class T>
Task<> perform(const Algorithm& algorithm, Transport& transport, const Call& call, const Counts& counts, bool in_place,
               bool now) {
  const std::vector<Section> blocks = sections_of<T>(counts);
  std::vector<T> in(call.count);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(contribution(transport.rank(), i));
  const auto me = static_cast<std::size_t>(transport.rank());
  std::vector<T> out(counts[me]);
  auto* const result = reinterpret_cast<std::byte*>(in_place ? in.data() : out.data());
  co_await carry_out_by(
      algorithm, now, transport,
      {.call = call, .in = reinterpret_cast<const std::byte*>(in.data()), .out = result, .in_sections = blocks});
  for (std::size_t i = 0; i < out.size(); ++i) {
    float right = 0;
    for (int rank = 0; rank < transport.size(); ++rank) right += contribution(rank, blocks[me].offset / sizeof(T) + i);
    if (static_cast<float>((in_place ? in : out)[i]) != right) throw std::runtime_error("a wrong result");
  }
}

/// Every algorithm and list of counts, for ranks that lie as `layouts` say.
template <class T>
void check(Call call, const std::vector<Layout>& layouts, WorldKind kind) {
  for (const Layout& layout : layouts) {
    const auto ranks = static_cast<int>(layout.nodes.size());
    const auto world = make_world({kind, ranks, layout.nodes, slot_bytes});
    const bool exact = call.repeatability == Repeatability::reproducible;
    for (const Counts& counts : counts_of_blocks(ranks)) {
      call.count = sum_of(counts);
      if (exact && call.count > long_exact_sums && &layout != &layouts.front() && &layout != &layouts.back()) continue;
      for (const Algorithm* algorithm : algorithms(Collective::reduce_scatter)) {
        const Problem problem = problem_of(call, world->transport(0));
        if (!algorithm->applies(carries_wider(*algorithm, problem) ? with_wider_elements(problem) : problem)) continue;
        SCOPED_TRACE(testing::Message() << algorithm->name << " of " << call.count << " elements, " << layout.name);
        const auto body = [&](Transport& transport) -> Task<> {
          for (const auto& [in_place, now] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
            if (now && (kind != WorldKind::threads || algorithm->now == nullptr)) continue;
            co_await perform<T>(*algorithm, transport, call, counts, in_place, now);
          }
        };
        ASSERT_NO_THROW(world->run(body));
      }
    }
  }
}

class ReduceScatter : public testing::TestWithParam<std::tuple<WorldKind, int>> {
 protected:
  [[nodiscard]] WorldKind kind() const { return std::get<0>(GetParam()); }
  [[nodiscard]] int ranks() const { return std::get<1>(GetParam()); }
};

constexpr Call sum_of_type(DataType type) { return {.collective = Collective::reduce_scatter, .type = type}; }

TEST_P(ReduceScatter, GivesEachRankItsBlock) {
  check<std::int32_t>(sum_of_type(DataType::int32), layouts(ranks()), kind());
}

TEST_P(ReduceScatter, CarriesShortFloatsAsWiderOnes) {
  check<float16_t>(sum_of_type(DataType::float16), layouts(ranks()), kind());
}

/// The longest vectors go in several parts.
TEST_P(ReduceScatter, IsReproducibleByEveryAlgorithm) {
  const Call call = asking_for(Repeatability::reproducible, sum_of_type(DataType::float64));
  ASSERT_EQ(call.repeatability, Repeatability::reproducible);
  ASSERT_GT(sum_of(counts_of_blocks(8)[2]) * sizeof(ExactSum<double>), std::size_t{8} << 20U);
  check<double>(call, layouts(ranks()), kind());
}

INSTANTIATE_TEST_SUITE_P(Every, ReduceScatter,
                         testing::Combine(testing::Values(WorldKind::simulated, WorldKind::threads),
                                          testing::Values(1, 2, 3, 4, 7, 8)),
                         name_and_ranks<WorldKind>);

class ReduceScatterOfEqualBlocks : public testing::TestWithParam<MatrixCase> {};

TEST_P(ReduceScatterOfEqualBlocks, SendsWhatItsFormulaSays) { check_traffic(Collective::reduce_scatter, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, ReduceScatterOfEqualBlocks, testing::ValuesIn(matrix_of(Collective::reduce_scatter)),
                         name_of);

class ReduceScatterOfDrawnParts : public testing::TestWithParam<WorldKind> {};

TEST_P(ReduceScatterOfDrawnParts, GivesEachRankItsBlock) {
  check<std::int32_t>(sum_of_type(DataType::int32), drawn_parts(GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Every, ReduceScatterOfDrawnParts, testing::Values(WorldKind::simulated, WorldKind::threads),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace chorus::test
