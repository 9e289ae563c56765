// SPDX-License-Identifier: Apache-2.0
#include "link_model.hpp"

#include "base/machine.hpp"

#include <algorithm>
#include <limits>

namespace chorus {
namespace {

/// Where ranks wait for a core before they can answer. While a rank has one it passes on data at some pace; what all do
/// takes as many times as long as ranks share a core, and what one rank of each node does as many times as nodes do.
LinkModel crowded_model(const Pace& pace) noexcept {
  const bool known = pace.measured(true);
  const double ranks_of_core = known ? pace.ranks_of_core : 2;
  const double nodes_of_core = known ? pace.nodes_of_core : 1;
  constexpr double past_caches = 16000;
  // What plain stores leave in a core's caches its other ranks find there.
  const double on_a_core = known && pace.way() == kernels::Store::cached ? 22000 : past_caches;
  constexpr double of_all = 1.25;  // as many times as long it takes to read from others that read, too
  LinkModel links;
  links.shared = {.latency_us = 0.1, .megabytes_per_second = on_a_core / ranks_of_core};
  links.shared_alone_megabytes_per_second = on_a_core / nodes_of_core;
  links.long_shared_megabytes_per_second = past_caches / ranks_of_core;
  links.long_shared_from = static_cast<double>(machine::beyond_caches) / ranks_of_core;
  links.shared_peer_us = known ? pace.round_us : 1.8;
  const bool reads = known && pace.system > 0 && pace.system_long > 0;
  links.read = {.latency_us = reads ? pace.system_us : 0.7,
                .megabytes_per_second = (reads ? pace.system : 8000) / nodes_of_core};
  links.long_read_megabytes_per_second = (reads ? pace.system_long : 8000) / nodes_of_core;
  links.readers_at_once = std::numeric_limits<double>::infinity();  // they take turns at the cores
  links.readers_of_a_core = of_all * ranks_of_core / nodes_of_core;
  links.reduce_megabytes_per_second = 40000 / ranks_of_core;
  links.node = {.latency_us = 15, .megabytes_per_second = 400};
  links.network.latency_us = 20;
  return links;
}

LinkModel model_of_ranks_apart(const Pace& pace) noexcept {
  LinkModel links;
  if (!pace.known()) return links;
  links.shared.megabytes_per_second = pace.best();
  links.shared_alone_megabytes_per_second = std::max(pace.best(), pace.alone);
  if (pace.system > 0 && pace.system_long > 0) {
    links.read = {.latency_us = pace.system_us, .megabytes_per_second = pace.system};
    links.long_read_megabytes_per_second = pace.system_long;
  }
  return links;
}

/// Of each message, if they are alike.
double length_of(const LevelTraffic& level) noexcept { return level.messages > 0 ? level.bytes / level.messages : 0; }

}  // namespace

const LinkModel& or_built_in(const LinkModel* links) noexcept {
  static constexpr LinkModel built_in;
  return links != nullptr ? *links : built_in;
}

void LinkModel::take(const NetworkPace& between) noexcept {
  network = {between.latency_us, between.megabytes_per_second};
  network_by_all = {between.by_all_latency_us, between.by_all_megabytes_per_second};
  to_next_gain = between.to_next_gain;
}

LinkModel LinkModel::of(const Pace& pace, bool crowded, const NetworkPace& between,
                        const DevicePace& devices) noexcept {
  LinkModel links = crowded ? crowded_model(pace) : model_of_ranks_apart(pace);
  if (between.known()) links.take(between);
  if (devices.known()) links.device = {devices.copies_us, devices.copies_megabytes_per_second};
  if (devices.knows_windows()) links.windows = {devices.windows_us, devices.windows_megabytes_per_second};
  return links;
}

double LinkModel::microseconds(const Traffic& traffic, const Problem& problem) const noexcept {
  const auto time = [&](const LevelTraffic& level, const Link& link) {
    return link.microseconds(level.messages, level.bytes) + level.reduced / reduce_megabytes_per_second;
  };
  const auto time_of_messages = [&](const LevelTraffic& level) {
    return time(level, message_link(traffic, problem, length_of(level)));
  };
  // What a rank keeps of its own passes through its caches, too.
  const double handled = traffic.read.bytes + traffic.shared.bytes + traffic.alone;
  const bool long_blocks = traffic.read.messages > 0 && handled >= static_cast<double>(machine::long_block);
  const double alone = long_blocks ? long_read_megabytes_per_second : read.megabytes_per_second;
  const double readers = traffic.one_reads ? 1 : readers_of_a_core;
  const Link reading = {read.latency_us * readers, alone / readers};
  const double arrivals = traffic.arrivals > 0 ? traffic.arrivals : traffic.shared.messages * problem.largest_node;
  const bool stays_near = traffic.shared.bytes < long_shared_from;
  const Link slots{shared.latency_us, stays_near ? shared.megabytes_per_second : long_shared_megabytes_per_second};
  const double inside = time(traffic.shared, slots) + traffic.alone / shared_alone_megabytes_per_second +
                        shared_peer_us * arrivals + time(traffic.read, reading) +
                        traffic.far / far_megabytes_per_second +
                        time(traffic.inside, node.of(length_of(traffic.inside))) -
                        hidden_inside_us(traffic.inside, traffic.inside_together);
  const double by_messages =
      time_of_messages(traffic.messages) + time_of_messages(traffic.waited) - hidden_us(traffic, problem);
  return time(traffic.device, device) + time(traffic.windows, windows) + inside + by_messages -
         traffic.overlap * std::min(inside, by_messages) + (problem.ranks == 1 ? alone_us(problem.call) : 0);
}

Traffic LinkModel::overlapped(Traffic traffic) const noexcept {
  if (shares_cores()) return traffic;
  const double by_all = traffic.shared.bytes / shared.megabytes_per_second;
  const double by_one = traffic.alone / shared_alone_megabytes_per_second;
  (by_all < by_one ? traffic.shared.bytes : traffic.alone) = 0;
  return traffic;
}

Link LinkModel::message_link(const Traffic& traffic, const Problem& problem, double bytes) const noexcept {
  if (problem.nodes == 1) return node.of(bytes);
  const bool by_the_last = traffic.to_next == 1 && neighbours_share_nodes(problem);
  const int of_a_node = by_the_last ? 1 : problem.largest_node;
  const int senders = traffic.lanes > 0 ? traffic.lanes : of_a_node;
  Link link = network_link(senders, bytes);
  // Where segments follow one another the ranks of a node do not keep step, and what the others send hides the latency.
  const double sent_meanwhile_us = (1 - 1.0 / senders) * bytes / link.megabytes_per_second;
  link.latency_us -= traffic.overlap * std::min(link.latency_us, sent_meanwhile_us);
  link.megabytes_per_second /= 1 - traffic.to_next + traffic.to_next / to_next_gain;
  return link;
}

Link LinkModel::network_link(int senders, double bytes) const noexcept {
  const Link alone = network.of(bytes);
  if (senders == 1) return alone;
  const Link by_all = network_by_all ? network_by_all->of(bytes) : alone;
  return {by_all.latency_us, std::min(alone.megabytes_per_second, by_all.megabytes_per_second / senders)};
}

double LinkModel::bytes_in_a_latency(int senders) const noexcept {
  const Link link = network_link(senders, 0);
  return link.latency_us * link.megabytes_per_second;  // a megabyte a second is a byte a microsecond
}

double LinkModel::hidden_inside_us(const LevelTraffic& messages, const LevelTraffic& together) const noexcept {
  const Link link = node.of(length_of(messages));
  // What sends a message takes as long for one inside a node.
  const double further_us = further_message * network.latency_us;
  return link.microseconds(0, together.bytes) + together.messages * std::max(0.0, link.latency_us - further_us);
}

double LinkModel::hidden_us(const Traffic& traffic, const Problem& problem) const noexcept {
  if (problem.nodes == 1) return hidden_inside_us(traffic.messages, traffic.together);
  const double latency_us = message_link(traffic, problem, length_of(traffic.messages)).latency_us;
  return traffic.together.messages * std::max(0.0, latency_us * (1 - further_message));
}

double LinkModel::alone_us(const Call& call) const noexcept {
  const double copied = call.collective == Collective::bcast ? 0 : static_cast<double>(call.bytes());
  return shared.latency_us + copied / shared.megabytes_per_second;
}

}  // namespace chorus
