// SPDX-License-Identifier: Apache-2.0
#include "broadcast_schedule.hpp"

#include "link_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace chorus {

BroadcastSchedule::BroadcastSchedule(int place, int ranks, int blocks) noexcept
    : place_(place), ranks_(ranks), blocks_(blocks), period_(CirculantRounds(ranks).count()) {
  incoming_ = received(place, period_);
  for (int k = 0; k < period_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    outgoing_[at] = place == 0 ? k : received((place + distance(k)) % ranks, k + 1)[at];
  }
}

BroadcastSchedule::Round BroadcastSchedule::round(int number) const noexcept {
  const int unused =
      (period_ - (blocks_ - 1) % period_) % period_;  // rounds of the first period, so that the last ends
  const int k = (number + unused) % period_;
  const int period_begin = number - k;
  const auto block = [&](const Period& period) {
    return std::min(period[static_cast<std::size_t>(k)] + period_begin, blocks_ - 1);
  };
  Round round;
  const int ahead = (place_ + distance(k)) % ranks_;
  if (ahead != 0 && block(outgoing_) >= 0) round.outgoing = block(outgoing_), round.ahead = ahead;
  if (place_ != 0 && block(incoming_) >= 0) {
    round.incoming = block(incoming_);
    round.behind = (place_ + ranks_ - distance(k)) % ranks_;
  }
  return round;
}

int BroadcastSchedule::best_blocks(const Call& call, int ranks, const LinkModel* links) noexcept {
  // n - 1 + q rounds, each a latency and an n-th of the bytes long: the sum is least where its two parts are equal.
  const Link link = or_built_in(links).network.of(0);
  const double refilled = std::max(0, CirculantRounds(ranks).count() - 1);
  const double best =
      std::sqrt(refilled * static_cast<double>(call.bytes()) / (link.latency_us * link.megabytes_per_second));
  const double most = std::min(static_cast<double>(call.count), double{std::numeric_limits<int>::max() / 2});
  return static_cast<int>(std::max(1.0, std::min(best, most)));
}

int BroadcastSchedule::first_block(int place) const noexcept {
  // The way to a place is made of ever shorter distances, and its last one is the number of the block.
  int way = place;
  for (int k = period_ - 1; k >= 0 && way > 0; --k) {
    if (way >= distance(k)) way -= distance(k);
    if (way == 0) return k;
  }
  return period_;  // the root
}

BroadcastSchedule::Period BroadcastSchedule::received(int place, int rounds) const noexcept {
  const int first = first_block(place);
  std::array<bool, longest_period + 1> taken{};
  taken[static_cast<std::size_t>(first)] = true;
  Period period{};
  int before = std::numeric_limits<int>::max();
  for (int k = 0; k < rounds; ++k) {
    // Of the places from which distance k + 1 leads to this one or farther, but distance k no farther, the one that
    // is reached by the longest distances not taken yet: the last of them is the block.
    const int nearest = place + ranks_ - distance(k + 1);
    const int farthest = std::min(place + ranks_ - distance(k), before - 1);
    int way = 0;
    int last = 0;
    for (int step = period_; step >= 0 && way <= nearest; --step) {
      if (taken[static_cast<std::size_t>(step)] || way + distance(step) > farthest) continue;
      way += distance(step);
      last = step;
    }
    before = way;
    taken[static_cast<std::size_t>(last)] = true;
    period[static_cast<std::size_t>(k)] = last == period_ ? first : last - period_;
  }
  return period;
}

}  // namespace chorus
