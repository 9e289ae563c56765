// SPDX-License-Identifier: Apache-2.0
#include "link_model.hpp"

#include "base/machine.hpp"

namespace chorus {
namespace {

/// Where ranks wait for a core before they can answer.
LinkModel crowded_model() noexcept {
  LinkModel links;
  links.shared = {.latency_us = 0.1, .megabytes_per_second = 12000};
  links.shared_peer_us = 1.8;
  links.read = {.latency_us = 0.7, .megabytes_per_second = 5500};
  links.long_read_megabytes_per_second = 5500;
  links.node = {.latency_us = 15, .megabytes_per_second = 400};
  links.network.latency_us = 20;
  return links;
}

}  // namespace

LinkModel LinkModel::of(const Pace& pace, bool crowded) noexcept {
  LinkModel links = crowded ? crowded_model() : LinkModel();
  if (pace.known()) {
    links.shared.megabytes_per_second *= pace.best() / pace.streamed;
    if (pace.system > 0 && pace.system_long > 0) {  // as much faster or slower as was measured
      const double scale = links.shared.megabytes_per_second / pace.best();
      links.read = {.latency_us = 1, .megabytes_per_second = scale * pace.system};
      links.long_read_megabytes_per_second = scale * pace.system_long;
    }
  }
  return links;
}

double LinkModel::microseconds(const Traffic& traffic, const Problem& problem) const noexcept {
  // Bytes divided by megabytes a second are microseconds.
  const auto time = [&](const LevelTraffic& level, const Link& link) {
    return level.messages * link.latency_us + level.bytes / link.megabytes_per_second +
           level.reduced / reduce_megabytes_per_second;
  };
  Link messages = problem.nodes > 1 ? network : node;
  if (problem.nodes > 1) messages.megabytes_per_second /= traffic.lanes > 0 ? traffic.lanes : problem.largest_node;
  // What a rank keeps of its own passes through its caches, too.
  const double handled = traffic.read.bytes + traffic.shared.bytes;
  const bool long_blocks = handled > static_cast<double>(machine::long_block) * traffic.read.messages;
  const Link reading = {read.latency_us, long_blocks ? long_read_megabytes_per_second : read.megabytes_per_second};
  const double hidden = problem.nodes > 1 ? traffic.together * (1 - further_message) : 0;
  const double arrivals = traffic.arrivals > 0 ? traffic.arrivals : traffic.shared.messages * problem.largest_node;
  return time(traffic.shared, shared) + shared_peer_us * arrivals + time(traffic.read, reading) +
         traffic.far / far_megabytes_per_second + time(traffic.messages, messages) + time(traffic.waited, messages) -
         hidden * messages.latency_us + time(traffic.inside, node) + (problem.ranks == 1 ? alone_us(problem.call) : 0);
}

double LinkModel::alone_us(const Call& call) const noexcept {
  const double copied = call.collective == Collective::bcast ? 0 : static_cast<double>(call.bytes());
  return shared.latency_us + copied / shared.megabytes_per_second;
}

}  // namespace chorus
