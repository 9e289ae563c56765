// SPDX-License-Identifier: Apache-2.0
#include "transport/smpi_peers.hpp"

#include "transport/gathering.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Host.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace {

/// The node of each rank, counted in the order of their first ranks: its host or, where nodes are to be smaller, so
/// many of its ranks.
std::vector<int> number_nodes(const std::vector<std::uint64_t>& hosts, int node_ranks) {
  std::map<std::pair<std::uint64_t, std::size_t>, int> numbers;
  std::vector<int> nodes;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const std::size_t part = node_ranks > 0 ? rank / static_cast<std::size_t>(node_ranks) : 0;
    nodes.push_back(numbers.try_emplace({hosts[rank], part}, static_cast<int>(numbers.size())).first->second);
  }
  return nodes;
}

}  // namespace

Task<detail::Peers::Shared> SmpiPeers::set_up(Transport& transport, Waiter& waiter, const Settings& settings) {
  waiter.set_policy({.spins = 0, .yields = 0});
  Shared shared;
  std::vector<std::uint64_t> hosts(static_cast<std::size_t>(transport.size()));
  hosts[static_cast<std::size_t>(transport.rank())] =
      reinterpret_cast<std::uintptr_t>(simgrid::s4u::Host::current());  // all ranks are in one process
  const Bytes table = std::as_writable_bytes(std::span(hosts));
  co_await gather_records(transport, table);
  shared.nodes = number_nodes(hosts, settings.node_ranks);
  shared.native = native();
  shared.notes.emplace_back("the ranks are simulated: messages only");
  co_return shared;
}

bool SmpiPeers::pass_time(Until until) {
  messages_.complete_one(until == Until::message);
  return true;
}

}  // namespace chorus
