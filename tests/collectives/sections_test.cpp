// SPDX-License-Identifier: Apache-2.0
// The collectives whose blocks differ in length, through the arguments of their algorithms. Lengths are random: none, a
// few bytes, or several slots.

#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/crossing.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"
#include "collectives/prepared_call.hpp"
#include "phases.hpp"
#include "section_table.hpp"
#include "transport/simulated.hpp"

#include <chorus/communicator.hpp>
#include <chorus/error.hpp>
#include <chorus/thread_communicators.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

constexpr int gap = 5;  // bytes between two blocks, which nobody may touch

/// The bytes of one rank's buffer, and where the blocks of the others lie in it.
struct Side {
  std::vector<std::byte> bytes;
  std::vector<Section> sections;
};

std::byte content(int from, int to, std::size_t index) {
  return static_cast<std::byte>(17 * from + 31 * to + static_cast<int>(index % 251));
}

/// What goes from rank to rank in one call: lengths[from][to].
class Exchange {
 public:
  Exchange(const Call& call, int ranks, unsigned seed) : call_(call), ranks_(ranks) {
    std::mt19937 random(seed);
    const auto length = [&]() -> std::size_t {
      constexpr std::size_t lengths[] = {0, 1, 7, 40, 64, 700, 1024, 5000, 9000};
      return lengths[random() % std::size(lengths)];
    };
    lengths_.assign(index(ranks), std::vector<std::size_t>(index(ranks)));
    for (int from = 0; from < ranks; ++from) {
      const std::size_t of_rank = length();
      for (int to = 0; to < ranks; ++to) lengths_[index(from)][index(to)] = length_of(from, to, of_rank, length());
    }
  }

  [[nodiscard]] const Call& call() const { return call_; }
  /// Makes the lengths the same both ways.
  void make_symmetric() {
    for (int from = 0; from < ranks_; ++from) {
      for (int to = 0; to < from; ++to) lengths_[index(from)][index(to)] = lengths_[index(to)][index(from)];
    }
  }

  [[nodiscard]] Side given(int rank) const {
    Side side;
    const bool once = call_.collective == Collective::allgatherv;  // the same block for everybody
    for (int to = 0; to < ranks_; ++to) {
      if (once && to > 0) {
        side.sections.push_back(side.sections[0]);
        continue;
      }
      add(side, lengths_[index(rank)][index(to)]);
      for (std::size_t i = 0; i < side.sections.back().bytes; ++i) {
        side.bytes[side.sections.back().offset + i] = content(rank, once ? 0 : to, i);
      }
    }
    return side;
  }
  [[nodiscard]] Side gotten(int rank) const {
    Side side;
    for (int from = ranks_ - 1; from >= 0; --from) add(side, lengths_[index(from)][index(rank)]);
    std::ranges::reverse(side.sections);
    return side;
  }
  void check(int rank, const Side& side) const {
    Side expected = gotten(rank);
    for (int from = 0; from < ranks_; ++from) {
      const Section& section = expected.sections[index(from)];
      const int to = call_.collective == Collective::allgatherv ? 0 : rank;
      for (std::size_t i = 0; i < section.bytes; ++i) expected.bytes[section.offset + i] = content(from, to, i);
    }
    if (side.bytes != expected.bytes) throw std::runtime_error("a wrong result");
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  static void add(Side& side, std::size_t length) {
    side.sections.push_back({side.bytes.size(), length});
    side.bytes.resize(side.bytes.size() + length + gap);
  }
  [[nodiscard]] std::size_t length_of(int from, int to, std::size_t of_rank, std::size_t of_pair) const {
    switch (call_.collective) {
      case Collective::allgatherv:
        return of_rank;
      case Collective::gatherv:
        return to == call_.root ? of_pair : 0;
      case Collective::scatterv:
        return from == call_.root ? of_pair : 0;
      default:
        return of_pair;
    }
  }

  Call call_;
  int ranks_;
  std::vector<std::vector<std::size_t>> lengths_;
};

Arguments arguments_of(const Call& call, const Side& in, Side& out) {
  return {.call = call,
          .in = in.bytes.data(),
          .out = out.bytes.data(),
          .in_sections = in.sections,
          .out_sections = out.sections};
}

/// A rank's buffers hold no more than the tables say, so that AddressSanitizer sees what leaves them.
Task<> perform(const Algorithm& algorithm, bool now, Transport& transport, const Exchange& exchange) {
  const Side in = exchange.given(transport.rank());
  Side out = exchange.gotten(transport.rank());
  co_await carry_out_by(algorithm, now, transport, arguments_of(exchange.call(), in, out));
  exchange.check(transport.rank(), out);
}

/// Of alltoallv and alltoallw, with equal lengths both ways: the block that comes replaces the one that goes.
Task<> perform_in_place(const Algorithm& algorithm, bool now, Transport& transport, Exchange exchange) {
  exchange.make_symmetric();
  const Side in = exchange.given(transport.rank());
  Side inout = exchange.gotten(transport.rank());
  for (std::size_t rank = 0; rank < in.sections.size(); ++rank) {
    std::memcpy(inout.bytes.data() + inout.sections[rank].offset, in.bytes.data() + in.sections[rank].offset,
                in.sections[rank].bytes);
  }
  co_await carry_out_by(algorithm, now, transport, arguments_of(exchange.call(), inout, inout));
  exchange.check(transport.rank(), inout);
}

/// Of gatherv: what the root gives itself stands in its result already.
Task<> perform_in_place_of_root(const Algorithm& algorithm, bool now, Transport& transport, const Exchange& exchange) {
  const auto root = static_cast<std::size_t>(exchange.call().root);
  Side in = exchange.given(transport.rank());
  Side out = exchange.gotten(transport.rank());
  Arguments arguments = arguments_of(exchange.call(), in, out);
  if (transport.rank() == exchange.call().root) {
    std::memcpy(out.bytes.data() + out.sections[root].offset, in.bytes.data() + in.sections[root].offset,
                in.sections[root].bytes);
    arguments.in = arguments.out;
    in.sections[root] = out.sections[root];
  }
  co_await carry_out_by(algorithm, now, transport, arguments);
  exchange.check(transport.rank(), out);
}

class Sections : public testing::TestWithParam<std::tuple<Collective, MatrixCase>> {};

/// Several exchanges by the algorithm of `matrix_case`, where it applies to ranks that lie as `layout` says.
void check_on(const Layout& layout, Collective collective, const MatrixCase& matrix_case) {
  const auto world = make_world({matrix_case.kind, matrix_case.ranks, layout.nodes, slot_bytes});
  const Algorithm& algorithm = *matrix_case.algorithm;
  if (!algorithm.applies(problem_of({.collective = collective}, world->transport(0)))) return;
  std::vector<Exchange> exchanges;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const int root = static_cast<int>(seed) % matrix_case.ranks;
    exchanges.emplace_back(Call{.collective = collective, .root = root}, matrix_case.ranks, seed);
  }
  const bool has_now = matrix_case.kind == WorldKind::threads && algorithm.now != nullptr;
  ASSERT_NO_THROW(world->run([&](Transport& transport) -> Task<> {
    for (const Exchange& exchange : exchanges) {
      for (const bool now : {false, true}) {
        if (now && !has_now) continue;
        co_await perform(algorithm, now, transport, exchange);
        const bool swaps = collective == Collective::alltoallv || collective == Collective::alltoallw;
        if (swaps) co_await perform_in_place(algorithm, now, transport, exchange);
        if (collective == Collective::gatherv) {
          co_await perform_in_place_of_root(algorithm, now, transport, exchange);
        }
      }
    }
  })) << layout.name;
}

TEST_P(Sections, ArriveWhereTheyBelong) {
  const auto& [collective, matrix_case] = GetParam();
  for (const Layout& layout : layouts(matrix_case.ranks)) check_on(layout, collective, matrix_case);
}

constexpr Collective of_sections[] = {Collective::allgatherv, Collective::gatherv, Collective::scatterv,
                                      Collective::alltoallv, Collective::alltoallw};

std::vector<std::tuple<Collective, MatrixCase>> cases() {
  std::vector<std::tuple<Collective, MatrixCase>> all;
  for (const Collective collective : of_sections) {
    for (const MatrixCase& matrix_case : matrix_of(collective)) all.emplace_back(collective, matrix_case);
  }
  return all;
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<Collective, MatrixCase>>& info) {
  const auto& [collective, matrix_case] = info.param;
  return std::string(name(collective)) + "_" + name_of({matrix_case, info.index});
}

INSTANTIATE_TEST_SUITE_P(Every, Sections, testing::ValuesIn(cases()), name_of_case);

class SectionsOfDrawnParts : public testing::TestWithParam<WorldKind> {};

TEST_P(SectionsOfDrawnParts, ArriveWhereTheyBelong) {
  for (const Layout& part : drawn_parts(GetParam())) {
    for (const Collective collective : of_sections) {
      for (const Algorithm* algorithm : algorithms(collective)) {
        if (needs_vendor(*algorithm)) continue;
        check_on(part, collective, {algorithm, GetParam(), static_cast<int>(part.nodes.size())});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SectionsOfDrawnParts, testing::Values(WorldKind::simulated, WorldKind::threads),
                         testing::PrintToStringParamName());

class AllgathervOfEqualBlocks : public testing::TestWithParam<MatrixCase> {};

TEST_P(AllgathervOfEqualBlocks, SendsWhatItsFormulaSays) { check_traffic(Collective::allgatherv, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Every, AllgathervOfEqualBlocks, testing::ValuesIn(matrix_of(Collective::allgatherv)), name_of);

/// Of ten ranks on nodes of their own.
SimulatedWorld::Report sent(const Algorithm& algorithm, Collective collective) {
  constexpr int ranks = 10;
  SimulatedWorld world({.ranks = ranks, .nodes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}});
  const Exchange exchange({.collective = collective}, ranks, 1);
  const auto report =
      world.run([&](Transport& transport) -> Task<> { co_await perform(algorithm, false, transport, exchange); });
  report.check();
  EXPECT_EQ(static_cast<double>(report.busiest.messages),
            algorithm.traffic(problem_of({.collective = collective}, world.transport(0))).messages.messages)
      << algorithm.name;
  return report;
}

TEST(MessagesOfSections, AreAsManyAsTheFormulaSaysAndSeveralAtATimeWhereScattered) {
  for (const Collective collective : of_sections) {
    for (const Algorithm* algorithm : algorithms(collective)) {
      const bool by_messages = algorithm->applies({.call = {.collective = collective}, .ranks = 10, .nodes = 10});
      if (by_messages && !needs_vendor(*algorithm)) sent(*algorithm, collective);
    }
  }
  for (const Collective collective : {Collective::alltoallv, Collective::alltoallw}) {
    EXPECT_LT(2 * sent(algorithm_named(collective, "scattered"), collective).time,
              sent(algorithm_named(collective, "pairwise"), collective).time);
  }
}

TEST(SectionsThatDisagree, AreAMismatchWithBothLengths) {
  for (const Algorithm* algorithm : algorithms(Collective::gatherv)) {
    if (needs_vendor(*algorithm) || algorithm->applies == has_nodes) continue;
    std::string told;
    const auto call = [&](Transport& transport) -> Task<> {
      const std::vector<std::byte> in(static_cast<std::size_t>(transport.rank() == 1 ? 12 : 10));
      std::vector<std::byte> out(20);
      std::vector<Section> from = {{0, transport.rank() == 0 ? 10U : 0U}, {10, transport.rank() == 0 ? 10U : 0U}};
      const std::vector<Section> to = {{0, in.size()}, {}};
      const Arguments arguments{.call = {.collective = Collective::gatherv},
                                .in = in.data(),
                                .out = out.data(),
                                .in_sections = to,
                                .out_sections = from};
      try {
        co_await carry_out(*algorithm, transport, arguments, false);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::mismatch);
        told = error.message();
      }
    };
    on_every_rank({.kind = WorldKind::threads, .ranks = 2}, call);
    EXPECT_NE(told.find("12 bytes"), told.npos) << algorithm->name << ": " << told;
    EXPECT_NE(told.find("10"), told.npos) << algorithm->name << ": " << told;
  }
}

/// As another thread may drive operations while a call is checked.
TEST(SectionTable, TakesNoMemoryFromOperations) {
  constexpr int ranks = 9;  // more than a table has room for itself
  const Communicator comm = thread_communicators(ranks).front();
  const void* table_memory = nullptr;
  {
    const SectionTable table(comm.state());
    table_memory = table.in().data();
  }
  EXPECT_NE(comm.state().transport().scratch(2 * ranks * sizeof(Section)).data(), table_memory);
}

}  // namespace
}  // namespace chorus::test
