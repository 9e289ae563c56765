// SPDX-License-Identifier: Apache-2.0
#include "section_costs.hpp"

#include "base/names.hpp"
#include "sections.hpp"
#include "single_copy.hpp"

#include <algorithm>

namespace chorus {

bool gives_one_section(const Call& call, int ranks) {
  return ranks <= 2 || call.collective == Collective::gatherv || call.collective == Collective::allgatherv;
}

bool givers_write(const Call& call, const LinkModel& links, int ranks) {
  return call.collective == Collective::gatherv && both_ends_copy(links, ranks);
}

std::size_t longest_shown(const Call& call, int ranks, std::size_t slot_bytes, const LinkModel& links) {
  const double others = ranks - 1;
  const double pace = links.shared.megabytes_per_second;
  // Of one section, as the rank that has to do with most of them takes it: how often it is read by the system, for how
  // many ranks it waits besides, and how long it takes in a slot.
  double reads = links.readers_of_a_core;
  double arrivals = 1 / others;
  double shown_us = (gives_one_section(call, ranks) ? 1 / others + 1 : 2) / pace;  // a byte
  if (has_root(call.collective)) {
    const double turns = std::max(links.readers_of_a_core, 1 + (others - 1) / links.readers_at_once);
    reads = call.collective == Collective::gatherv ? 1 : turns / others;
    arrivals = 1 + 2 / others;
    shown_us = 1 / links.shared_alone_megabytes_per_second + 1 / (others * pace);
  }
  const double gained_us = shown_us - reads / links.read.megabytes_per_second;
  const double told_us = givers_write(call, links, ranks) ? links.node.latency_us : links.shared_peer_us * arrivals;
  const double longest = (links.read.latency_us * reads + told_us) / gained_us;
  const std::size_t most = slot_bytes / 2;
  return gained_us > 0 && longest < static_cast<double>(most) ? static_cast<std::size_t>(longest) : most;
}

Traffic memory_traffic(const Problem& problem) {
  const LinkModel& links = links_of(problem);
  const double bytes = passed_bytes(problem);
  const double peers = problem.ranks - 1.0;
  const double section = static_cast<double>(problem.call.bytes()) / problem.ranks;
  if (problem.single_copy &&
      section > static_cast<double>(longest_shown(problem.call, problem.ranks, problem.slot_bytes, links))) {
    Traffic traffic{.shared = {.messages = 1, .bytes = 0, .reduced = 0},
                    .messages = {},
                    .waited = {},
                    .read = {.messages = peers, .bytes = bytes, .reduced = 0},
                    .arrivals = problem.ranks + 1.0};
    if (givers_write(problem.call, links, problem.ranks)) {
      // They write at the same time, and are told where before, and both when all is done.
      const double share = share_of_others(links, problem.ranks, static_cast<std::size_t>(section), 1);
      traffic.read.bytes = std::max(share * bytes / peers, (1 - share) * bytes);
      traffic.messages = {.messages = 2 * peers, .bytes = peers, .reduced = 0};
    }
    return traffic;
  }
  return {.shared = {.messages = 1 + bytes / static_cast<double>(problem.slot_bytes), .bytes = 2 * bytes, .reduced = 0},
          .messages = {}};
}

}  // namespace chorus
