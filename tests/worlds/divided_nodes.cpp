// SPDX-License-Identifier: Apache-2.0
#include "worlds/divided_nodes.hpp"

#include "topology/topology.hpp"

#include <cstddef>

namespace chorus::test {
namespace {

struct Machine {
  int ranks;
  const char* description;
};
constexpr Machine machines[] = {
    {4, "pack:2 core:2"}, {6, "pack:2 core:3"},       {6, "pack:3 core:2"},         {8, "pack:2 numa:2 core:2"},
    {8, "pack:2 core:4"}, {12, "pack:2 l3:2 core:3"}, {16, "pack:2 numa:2 core:4"}, {16, "pack:2 numa:2 l3:2 core:2"},
};

}  // namespace

std::vector<Binding> one_rank_a_core(const std::string& description, bool in_turn) {
  const Topology topology = Topology::described_by(description + " pu:1");
  const std::size_t cores = topology.cores_of(topology.machine.pus).count();
  const std::size_t parts = in_turn ? topology.machine.children.size() : 1;
  std::vector<Binding> bindings;
  for (std::size_t rank = 0; rank < cores; ++rank) {
    PuSet core;
    core.set(rank % parts * (cores / parts) + rank / parts);
    bindings.push_back(topology.place(core));
  }
  return bindings;
}

std::vector<DividedNode> divided_nodes(int ranks) {
  std::vector<DividedNode> nodes;
  for (const Machine& machine : machines) {
    if (machine.ranks != ranks) continue;
    nodes.push_back({machine.description, one_rank_a_core(machine.description)});
    nodes.push_back({std::string(machine.description) + " in turn", one_rank_a_core(machine.description, true)});
  }
  return nodes;
}

std::vector<NamedWorld> every_world(int ranks, WorldKind kind) {
  std::vector<NamedWorld> worlds;
  for (const Layout& layout : layouts(ranks)) {
    worlds.push_back({layout.name, {.kind = kind, .ranks = ranks, .nodes = layout.nodes}});
  }
  for (const DividedNode& node : divided_nodes(ranks)) {
    worlds.push_back({node.name, {.kind = kind, .ranks = ranks, .bindings = node.bindings}});
  }
  return worlds;
}

}  // namespace chorus::test
