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

/// Where a rank is.
struct Place {
  std::uint64_t host = 0;
  std::int64_t world_rank = 0;
};

/// The node of each rank, counted in the order of their first ranks: its host or, where nodes are to be smaller, so
/// many ranks of the job.
std::vector<int> number_nodes(const std::vector<Place>& places, int node_ranks) {
  std::map<std::pair<std::uint64_t, std::int64_t>, int> numbers;
  std::vector<int> nodes;
  for (const Place& place : places) {
    const std::int64_t part = node_ranks > 0 ? place.world_rank / node_ranks : 0;
    nodes.push_back(numbers.try_emplace({place.host, part}, static_cast<int>(numbers.size())).first->second);
  }
  return nodes;
}

}  // namespace

Task<detail::Peers::Shared> SmpiPeers::set_up(Transport& transport, Waiter& waiter, const Settings& settings) {
  waiter.set_policy({.spins = 0, .yields = 0});
  Shared shared;
  std::vector<Place> places(static_cast<std::size_t>(transport.size()));
  places[static_cast<std::size_t>(transport.rank())] = {
      reinterpret_cast<std::uintptr_t>(simgrid::s4u::Host::current()),  // all ranks are in one process
      world_rank(transport.rank())};
  const Bytes table = std::as_writable_bytes(std::span(places));
  co_await gather_records(transport, table);
  shared.nodes = number_nodes(places, settings.node_ranks);
  shared.native = native();
  shared.notes.emplace_back("the ranks are simulated: messages only");
  co_return shared;
}

bool SmpiPeers::pass_time(Until until) {
  messages_.complete_one(until == Until::message);
  return true;
}

}  // namespace chorus
