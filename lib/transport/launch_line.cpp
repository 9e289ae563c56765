// SPDX-License-Identifier: Apache-2.0
#include "transport/launch_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {
namespace {

/// "1 rank", "2 ranks".
std::string counted(std::size_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

/// "2", or "1 to 4".
std::string from_to(std::pair<std::size_t, std::size_t> range) {
  return range.first == range.second ? fmt::format("{}", range.first)
                                     : fmt::format("{} to {}", range.first, range.second);
}

struct Host {
  std::string name;
  std::size_t ranks = 0;
};

/// In the order of their first ranks.
std::vector<Host> hosts_of(std::span<const PeerRecord> ranks) {
  std::vector<Host> hosts;
  std::map<std::string_view, std::size_t> places;
  for (const PeerRecord& rank : ranks) {
    const auto [place, is_new] = places.try_emplace(rank.host.data(), hosts.size());
    if (is_new) hosts.push_back({rank.host.data()});
    ++hosts[place->second].ranks;
  }
  return hosts;
}

/// "node1, node2" where each has as many ranks; "node1 1, node2 2" where not; the first and the last of many.
std::string names_of(const std::vector<Host>& hosts, bool equal) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t number = 0; number < hosts.size(); ++number) {
    if (hosts.size() > most && number >= most / 2 && number + 1 < hosts.size()) {
      if (number == most / 2) text += ", ...";
      continue;
    }
    if (number > 0) text += ", ";
    text += hosts[number].name;
    if (!equal) text += fmt::format(" {}", hosts[number].ranks);
  }
  return text;
}

std::string places_of(std::span<const PeerRecord> ranks) {
  const std::vector<Host> hosts = hosts_of(ranks);
  const auto [fewest, most] = std::ranges::minmax(hosts, {}, &Host::ranks);
  const bool equal = fewest.ranks == most.ranks;
  const std::string on_each = hosts.size() == 1 ? "" : fmt::format(", {} on each", from_to({fewest.ranks, most.ranks}));
  return fmt::format("{} on {}{} ({})", counted(ranks.size(), "rank"), counted(hosts.size(), "host"), on_each,
                     names_of(hosts, equal));
}

std::string binding_of(std::span<const PeerRecord> ranks) {
  std::vector<std::size_t> cores;  // of those that are bound
  for (const PeerRecord& rank : ranks) {
    if (rank.binding.bound) cores.push_back(rank.binding.cores.count());
  }
  if (cores.empty()) return "not bound";
  const auto [fewest, most] = std::ranges::minmax(cores);
  return fmt::format("{} bound to {} core{}",
                     cores.size() == ranks.size() ? "each" : fmt::format("{} of them", cores.size()),
                     from_to({fewest, most}), most == 1 ? "" : "s");
}

}  // namespace

std::string launch_line(const detail::Launch& launch, std::span<const PeerRecord> ranks) {
  std::string_view by = launch.launcher;
  if (by.empty()) by = ranks.size() == 1 ? "hand" : "a launcher that does not say its name";
  const std::string alone = launch.alone_in_job(static_cast<int>(ranks.size()));
  return fmt::format("launched by {}: {}, {}{}{}", by, places_of(ranks), binding_of(ranks), alone.empty() ? "" : "; ",
                     alone);
}

}  // namespace chorus
