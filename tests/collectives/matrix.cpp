// SPDX-License-Identifier: Apache-2.0
#include "collectives/matrix.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/oracle.hpp"
#include "collectives/prepared_call.hpp"
#include "kernels/kernels.hpp"
#include "transport/simulated.hpp"
#include "worlds/divided_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

namespace chorus::test {
namespace {

constexpr int many_ranks[] = {12, 13, 16, 17};
constexpr int seeds = 50;
/// Elements of all blocks together: several segments of a pipeline.
constexpr std::size_t long_vector = 70'001;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// The calls of a series in one world, one after another on every rank.
class Series {
 public:
  Series(World& world, const MatrixCase& matrix_case) : world_(world), case_(matrix_case) {}

  /// Adds a call where the algorithm applies; each with the next offsets.
  void add(const Call& call, bool in_place) {
    if (!case_.algorithm->applies(problem_of(call, world_.transport(0)))) return;
    calls_.emplace_back(call, case_.ranks, Placement::of_call(calls_.size(), in_place, size_of(call.type)));
  }

  void run() {
    const bool has_now = case_.kind == WorldKind::threads && case_.algorithm->now != nullptr;
    world_.run([&, has_now](Transport& transport) -> Task<> {
      for (const PreparedCall& call : calls_) {
        co_await perform(*case_.algorithm, transport, call);
        if (has_now) perform_now(*case_.algorithm, transport, call);
      }
    });
  }

 private:
  World& world_;
  MatrixCase case_;
  std::vector<PreparedCall> calls_;
};

std::vector<bool> in_place_or_not(Collective collective) {
  if (collective == Collective::barrier) return {false};
  if (collective == Collective::bcast) return {true};
  return {false, true};
}

std::vector<std::size_t> all_counts(Collective collective, int ranks, DataType type) {
  return collective == Collective::barrier ? std::vector<std::size_t>{0} : counts_for(ranks, type);
}

/// The collective of equally long blocks that gives the same where those of `collective` are; else itself.
Collective of_equal_blocks(Collective collective) {
  if (collective == Collective::allgatherv) return Collective::allgather;
  return collective == Collective::reduce_scatter ? Collective::reduce_scatter_block : collective;
}

bool has_blocks(Collective collective) {
  return collective == Collective::allgather || collective == Collective::reduce_scatter_block ||
         collective == Collective::alltoall || collective == Collective::gather || collective == Collective::scatter;
}

/// And a long one.
std::vector<std::size_t> all_lengths(Collective collective, int ranks, DataType type) {
  std::vector<std::size_t> counts = all_counts(collective, ranks, type);
  const int blocks = has_blocks(of_equal_blocks(collective)) ? ranks : 1;
  if (collective != Collective::barrier) counts.push_back(long_vector / static_cast<std::size_t>(blocks));
  return counts;
}

/// Divided nodes, for an algorithm that does not apply without: others need no test there.
std::vector<DividedNode> nodes_needed(const MatrixCase& matrix_case, Collective collective) {
  const Problem undivided{.call = {collective, DataType::float32, ReduceOp::sum, 0, 1},
                          .ranks = matrix_case.ranks,
                          .largest_node = matrix_case.ranks,
                          .shared = true,
                          .slot_bytes = slot_bytes,
                          .single_copy = true};
  if (matrix_case.algorithm->applies(undivided)) return {};
  return divided_nodes(matrix_case.ranks);
}

/// On `node`.
WorldOptions on(const DividedNode& node, const MatrixCase& matrix_case) {
  return {.kind = matrix_case.kind, .ranks = matrix_case.ranks, .slot_bytes = slot_bytes, .bindings = node.bindings};
}

void run_counts(World& world, Collective collective, const MatrixCase& matrix_case) {
  Series series(world, matrix_case);
  for (const std::size_t count : all_counts(collective, matrix_case.ranks, DataType::float32)) {
    for (const int root : roots_for(collective, matrix_case.ranks)) {
      for (const bool in_place : in_place_or_not(collective)) {
        series.add({collective, DataType::float32, ReduceOp::sum, root, count}, in_place);
      }
    }
  }
  series.run();
}

void run_types(World& world, Collective collective, const MatrixCase& matrix_case) {
  Series series(world, matrix_case);
  bool in_place = false;
  for (int type = 0; type < static_cast<int>(DataType::opaque); ++type) {
    for (const ReduceOp op : ops_for(collective, static_cast<DataType>(type))) {
      for (const std::size_t count : {std::size_t{3}, std::size_t{150}}) {
        in_place = !in_place || collective == Collective::bcast;
        series.add({collective, static_cast<DataType>(type), op, matrix_case.ranks - 1, count}, in_place);
      }
    }
  }
  series.run();
}

/// What a call has sent, and what its algorithm's formula says of it.
struct CountedTraffic {
  SimulatedWorld::Report counted;
  Problem problem;
  Traffic formula;
};

/// Carries out `call`, by its blocks' lengths where it has such a list, and checks that the result is that of
/// `prepared`, whose blocks are equally long.
Task<> perform_of_blocks(const Algorithm& algorithm, Transport& transport, Call call, const PreparedCall& prepared) {
  RankBuffers buffers(prepared, transport.rank());
  Arguments arguments = buffers.arguments();
  const std::size_t block = prepared.call().bytes();
  std::vector<Section> of_all(static_cast<std::size_t>(transport.size()));
  for (std::size_t rank = 0; rank < of_all.size(); ++rank) of_all[rank] = {rank * block, block};
  const std::vector<Section> own(of_all.size(), {0, block});
  if (call.collective != prepared.call().collective) {
    const bool gathers = call.collective == Collective::allgatherv;
    arguments.call = call;
    arguments.in_sections = gathers ? std::span<const Section>(own) : of_all;
    arguments.out_sections = gathers ? std::span<const Section>(of_all) : own;
  }
  co_await carry_out(algorithm, transport, arguments);
  buffers.check();
}

/// Tells `compare` what calls of some of `counts` elements, or of so many in each block, send in `world`, where the
/// algorithm applies.
template <class Compare>
void count_traffic(SimulatedWorld& world, Collective collective, const MatrixCase& matrix_case,
                   const std::vector<std::size_t>& counts, const Compare& compare) {
  const Collective even = of_equal_blocks(collective);
  for (const std::size_t count : counts) {
    for (const int root : roots_for(collective, matrix_case.ranks)) {
      const Call of_block{even, DataType::float32, ReduceOp::sum, root, count};
      Call call = of_block;
      call.collective = collective;
      if (even != collective) call.count *= static_cast<std::size_t>(matrix_case.ranks);
      const Problem problem = problem_of(call, world.transport(0));
      if (!matrix_case.algorithm->applies(problem)) continue;
      const PreparedCall prepared(of_block, matrix_case.ranks, {.in_place = collective == Collective::bcast});
      SCOPED_TRACE(prepared.describe());
      const auto report = world.run([&](Transport& transport) -> Task<> {
        co_await perform_of_blocks(*matrix_case.algorithm, transport, call, prepared);
      });
      ASSERT_NO_THROW(report.check());
      compare({report, problem, matrix_case.algorithm->traffic(problem)});
      if (testing::Test::HasFailure()) return;
    }
  }
}

void expect_equal(const SimulatedWorld::Counts& counted, const LevelTraffic& formula) {
  EXPECT_EQ(static_cast<double>(counted.messages), formula.messages);
  EXPECT_EQ(static_cast<double>(counted.bytes), formula.bytes);
}

void check_traffic_in(SimulatedWorld& world, Collective collective, const MatrixCase& matrix_case) {
  count_traffic(world, collective, matrix_case, all_lengths(collective, matrix_case.ranks, DataType::float32),
                [](const CountedTraffic& of_call) { expect_equal(of_call.counted.busiest, of_call.formula.messages); });
}

/// Some short lengths and a long one.
std::vector<std::size_t> few_lengths(Collective collective, int ranks) {
  const std::vector<std::size_t> all = all_lengths(collective, ranks, DataType::float32);
  if (all.size() == 1) return all;
  return {1, 37, all.back()};
}

/// Holds what is sent between nodes, or inside them, to what a formula says at the most.
void expect_no_more(const SimulatedWorld::Counts& counted, double messages, double bytes) {
  EXPECT_LE(static_cast<double>(counted.messages), messages);
  EXPECT_LE(static_cast<double>(counted.bytes), bytes + messages * sizeof(float)) << "where messages are rounded up";
}

/// The most messages inside a node, of any size that the nodes may have: smaller ones may send by other algorithms than
/// the largest, of which the formula is.
double most_messages_inside(const Algorithm& algorithm, Problem problem) {
  double most = 0;
  for (; problem.largest_node >= problem.smallest_node; --problem.largest_node) {
    most = std::max(most, algorithm.traffic(problem).inside.messages);
  }
  return most;
}

/// A formula does not know which ranks are on which node: what it takes to be sent inside nodes may cross them, and the
/// other way round, but for phases. Of blocks that differ in length it knows the mean, the fullest node has the
/// longest.
void check_traffic_on(const Layout& layout, Collective collective, const MatrixCase& matrix_case) {
  const bool by_phases = needs_nodes(*matrix_case.algorithm, collective);
  for (const std::size_t memory : by_phases ? std::vector{std::size_t{0}, slot_bytes} : std::vector{std::size_t{0}}) {
    SCOPED_TRACE(testing::Message() << layout.name << ", slots of " << memory << " bytes");
    SimulatedWorld world({.ranks = matrix_case.ranks, .nodes = layout.nodes, .slot_bytes = memory});
    const Problem problem = problem_of({.collective = collective}, world.transport(0));
    const double fullest = static_cast<double>(problem.largest_node * problem.nodes) / problem.ranks;
    const auto compare = [&](const CountedTraffic& of_call) {
      const LevelTraffic& between = of_call.formula.messages;
      const LevelTraffic& inside = of_call.formula.inside;
      const double either = between.messages + inside.messages;
      const double either_bytes = between.bytes + inside.bytes;
      if (!by_phases) {
        expect_no_more(of_call.counted.busiest, either, either_bytes);
        expect_no_more(of_call.counted.busiest_inside, either, either_bytes);
        return;
      }
      expect_no_more(of_call.counted.busiest, between.messages, between.bytes * fullest);
      if (memory > 0) return;
      const bool even = problem.smallest_node == problem.largest_node;
      expect_no_more(of_call.counted.busiest_inside, most_messages_inside(*matrix_case.algorithm, of_call.problem),
                     even ? inside.bytes : infinite);
    };
    count_traffic(world, collective, matrix_case, few_lengths(collective, matrix_case.ranks), compare);
  }
}

}  // namespace

std::vector<Collective> every_collective() {
  std::vector<Collective> every;
  for (int index = 0; index < even_collective_count; ++index) every.push_back(static_cast<Collective>(index));
  return every;
}

std::vector<MatrixCase> matrix_of(Collective collective) {
  std::vector<MatrixCase> cases;
  for (const Algorithm* algorithm : algorithms(collective)) {
    if (needs_vendor(*algorithm)) continue;
    for (int ranks = 1; ranks <= 8; ++ranks) {
      cases.push_back({algorithm, WorldKind::simulated, ranks});
      cases.push_back({algorithm, WorldKind::threads, ranks});
    }
    for (const int ranks : many_ranks) cases.push_back({algorithm, WorldKind::simulated, ranks});
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<MatrixCase>& info) {
  return fmt::format("{}_{}_{}", info.param.algorithm->name, name(info.param.kind), info.param.ranks);
}

void PrintTo(const MatrixCase& matrix_case, std::ostream* stream) {
  *stream << matrix_case.algorithm->name << " on " << matrix_case.ranks << " ranks, " << matrix_case.kind;
}

std::vector<std::size_t> counts_for(int ranks, DataType type) {
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t slot = slot_bytes / size_of(type);
  const std::set<std::size_t> counts = {0, 1, p - 1, p, p + 1, 37, slot - 1, slot, slot + 1, 4099};
  return {counts.begin(), counts.end()};
}

std::vector<int> roots_for(Collective collective, int ranks) {
  if (!has_root(collective)) return {0};
  const std::set<int> roots = {0, ranks / 2, ranks - 1};
  return {roots.begin(), roots.end()};
}

std::vector<ReduceOp> ops_for(Collective collective, DataType type) {
  if (!reduces(collective)) return {ReduceOp::sum};
  std::vector<ReduceOp> ops;
  for (int op = 0; op < reduce_op_count; ++op) {
    if (kernels::supports(type, static_cast<ReduceOp>(op))) ops.push_back(static_cast<ReduceOp>(op));
  }
  return ops;
}

bool needs_nodes(const Algorithm& algorithm, Collective collective) {
  const Problem flat{.call = {collective, DataType::float32, ReduceOp::sum, 0, 1}, .ranks = 4};
  Problem pairs = flat;
  pairs.nodes = pairs.largest_node = pairs.smallest_node = 2;
  pairs.slot_bytes = slot_bytes;
  return algorithm.applies(pairs) && !algorithm.applies(flat);
}

Task<> carry_out_by(const Algorithm& algorithm, bool now, Transport& transport, const Arguments& arguments) {
  if (now) {
    carry_out_now(algorithm, transport, arguments);
  } else {
    co_await carry_out(algorithm, transport, arguments, false);
  }
}

void check_counts(Collective collective, const MatrixCase& matrix_case) {
  for (const Layout& layout : layouts(matrix_case.ranks)) {
    SCOPED_TRACE(layout.name);
    const auto world = make_world({matrix_case.kind, matrix_case.ranks, layout.nodes, slot_bytes});
    ASSERT_NO_THROW(run_counts(*world, collective, matrix_case));
  }
  for (const DividedNode& node : nodes_needed(matrix_case, collective)) {
    SCOPED_TRACE(node.name);
    const auto world = make_world(on(node, matrix_case));
    ASSERT_NO_THROW(run_counts(*world, collective, matrix_case));
  }
}

void check_types(Collective collective, const MatrixCase& matrix_case) {
  // Counts show what more ranks change, and more threads.
  if (matrix_case.ranks > (matrix_case.kind == WorldKind::threads ? 4 : 13)) return;
  const auto placements = layouts(matrix_case.ranks);
  const auto& layout = placements[static_cast<std::size_t>(matrix_case.ranks) % placements.size()];
  for (const std::vector<int>& nodes : {std::vector<int>{}, layout.nodes}) {
    const auto world = make_world({matrix_case.kind, matrix_case.ranks, nodes, slot_bytes});
    ASSERT_NO_THROW(run_types(*world, collective, matrix_case));
  }
  for (const DividedNode& node : nodes_needed(matrix_case, collective)) {
    SCOPED_TRACE(node.name);
    const auto world = make_world(on(node, matrix_case));
    ASSERT_NO_THROW(run_types(*world, collective, matrix_case));
  }
}

void check_seeds(Collective collective, const MatrixCase& matrix_case) {
  const bool few = matrix_case.ranks >= 2 && (matrix_case.ranks <= 5 || !nodes_needed(matrix_case, collective).empty());
  if (matrix_case.kind != WorldKind::simulated || !few) return;
  const auto placements = layouts(matrix_case.ranks);
  const auto divided = nodes_needed(matrix_case, collective);
  for (int seed = 0; seed < seeds; ++seed) {
    const auto number = static_cast<std::size_t>(seed);
    SimulatedWorld world(
        {.ranks = matrix_case.ranks,
         .seed = static_cast<std::uint64_t>(seed),
         .nodes = divided.empty() ? placements[number % placements.size()].nodes : std::vector<int>(),
         .bindings = divided.empty() ? std::vector<Binding>() : divided[number % divided.size()].bindings,
         .slot_bytes = slot_bytes,
         .slow = {{seed % matrix_case.ranks, 30}}});
    std::vector<PreparedCall> calls;
    for (const std::size_t some : {5, 1, 700, 9}) {
      const std::size_t count = collective == Collective::barrier ? 0 : some;
      const Call call{collective, DataType::int32, ReduceOp::sum, seed % matrix_case.ranks, count};
      if (!matrix_case.algorithm->applies(problem_of(call, world.transport(0)))) continue;
      const Placement placement{.in_place = collective == Collective::bcast,
                                .registered = static_cast<Registered>(seed % registered_count)};
      calls.emplace_back(call, matrix_case.ranks, placement);
    }
    const auto report = world.run([&](Transport& transport) -> Task<> {
      for (const PreparedCall& call : calls) co_await perform(*matrix_case.algorithm, transport, call);
    });
    ASSERT_NO_THROW(report.check()) << "seed " << seed;
  }
}

void check_traffic(Collective collective, const MatrixCase& matrix_case) {
  if (matrix_case.kind != WorldKind::simulated) return;
  SimulatedWorld flat({.ranks = matrix_case.ranks, .slot_bytes = 0});
  check_traffic_in(flat, collective, matrix_case);
  const std::vector<Layout> all = layouts(matrix_case.ranks);
  const bool paired = matrix_case.ranks % 2 == 0 && matrix_case.ranks > 2;
  if (paired && needs_nodes(*matrix_case.algorithm, collective)) {
    SimulatedWorld pairs({.ranks = matrix_case.ranks, .nodes = all[1].nodes, .slot_bytes = slot_bytes});
    check_traffic_in(pairs, collective, matrix_case);
  }
  const auto alone = std::ranges::find(all, "alone", &Layout::name);
  if (alone != all.end()) {
    SimulatedWorld world({.ranks = matrix_case.ranks, .nodes = alone->nodes, .slot_bytes = slot_bytes});
    check_traffic_in(world, collective, matrix_case);
  }
  for (const Layout& layout : all) {
    if (layout.name != "alone" && layout.name != "one_node") check_traffic_on(layout, collective, matrix_case);
  }
}

}  // namespace chorus::test
