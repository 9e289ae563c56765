// SPDX-License-Identifier: Apache-2.0
#include "collectives/crossing.hpp"

#include "carry_out.hpp"
#include "transport/shared_group.hpp"
#include "transport/simulated.hpp"
#include "worlds/divided_nodes.hpp"

#include <algorithm>

namespace chorus::test {
namespace {

constexpr std::size_t world_slot_bytes = std::size_t{128} * 1024;

bool has_blocks(Collective collective) {
  return collective == Collective::allgather || collective == Collective::reduce_scatter_block;
}

/// Of all blocks together.
double vector_bytes(const Problem& problem) {
  const auto bytes = static_cast<double>(problem.call.bytes());
  return has_blocks(problem.call.collective) ? bytes * problem.ranks : bytes;
}

/// The outermost level at which two positions differ; they do.
int distance(const Radices& radices, int a, int b) {
  int level = radices.levels - 1;
  while (a / radices.stride(level) == b / radices.stride(level)) --level;
  return level;
}

}  // namespace

const Algorithm& algorithm_named(Collective collective, std::string_view name) {
  return **std::ranges::find(algorithms(collective), name, &Algorithm::name);
}

Problem problem_on(const std::string& machine, Collective collective, std::size_t bytes) {
  const std::vector<Binding> bindings = one_rank_a_core(machine);
  const std::size_t blocks = has_blocks(collective) ? bindings.size() : 1;
  return {.call = {collective, DataType::float32, ReduceOp::sum, 0, bytes / blocks / sizeof(float)},
          .ranks = static_cast<int>(bindings.size()),
          .largest_node = static_cast<int>(bindings.size()),
          .shared = true,
          .slot_bytes = world_slot_bytes,
          .domains = NodeShape::of(bindings).radices()};
}

Crossing counted(const Algorithm& algorithm, const std::string& machine, const Problem& problem) {
  SimulatedWorld world({.ranks = problem.ranks, .bindings = one_rank_a_core(machine), .slot_bytes = world_slot_bytes});
  const bool blocks = has_blocks(problem.call.collective);
  const std::size_t bytes = problem.call.bytes() * static_cast<std::size_t>(blocks ? problem.ranks : 1);
  world
      .run([&](Transport& transport) -> Task<> {
        std::vector<std::byte> data(bytes);
        co_await carry_out(algorithm, transport, {problem.call, data.data(), data.data()});
      })
      .check();
  const Radices& radices = problem.domains;
  const int part = radices.stride(radices.levels - 1);
  Crossing crossing{.bytes = std::vector<double>(static_cast<std::size_t>(radices.levels))};
  std::vector<double> into(static_cast<std::size_t>(problem.ranks / part));
  for (int rank = 0; rank < problem.ranks; ++rank) {
    const SharedGroup& memory = *world.transport(rank).shared();
    for (int peer = 0; peer < problem.ranks; ++peer) {
      if (peer == rank) continue;
      const auto bytes_read = static_cast<double>(memory.bytes_read()[static_cast<std::size_t>(peer)]);
      const int position = memory.shape().position(rank);
      const int level = distance(radices, position, memory.shape().position(peer));
      crossing.bytes[static_cast<std::size_t>(level)] += bytes_read;
      if (level == radices.levels - 1) into[static_cast<std::size_t>(position / part)] += bytes_read;
    }
  }
  crossing.busiest = std::ranges::max(into);
  return crossing;
}

Crossing flat(const Problem& problem) {
  const Radices& radices = problem.domains;
  const auto bytes = static_cast<double>(problem.call.bytes());
  const bool one_shot = problem.call.bytes() <= 16384;  // an allreduce reads all vectors whole
  Crossing crossing;
  for (int level = 0; level < radices.levels; ++level) {
    const double others = radices.stride(level + 1) - radices.stride(level);  // as far from a rank
    switch (problem.call.collective) {
      case Collective::allreduce:
        crossing.bytes.push_back(others * bytes * (one_shot ? problem.ranks : 2));
        break;
      case Collective::bcast:
      case Collective::reduce:
        crossing.bytes.push_back(others * bytes);
        break;
      default:
        crossing.bytes.push_back(others * bytes * problem.ranks);
    }
  }
  return crossing;
}

Crossing least(const Problem& problem) {
  const Radices& radices = problem.domains;
  const double there_and_back = problem.call.collective == Collective::allreduce ? 2 : 1;
  Crossing crossing;
  for (int level = 0; level < radices.levels; ++level) {
    const double groups = static_cast<double>(problem.ranks) / radices.stride(level + 1);
    crossing.bytes.push_back(there_and_back * groups * (radices.radix(level) - 1) * vector_bytes(problem));
  }
  return crossing;
}

}  // namespace chorus::test
