// SPDX-License-Identifier: Apache-2.0
#include "simulated_time.hpp"

#include <simgrid/s4u/Barrier.hpp>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>

namespace chorus::bench {
namespace {

/// Of the simulator: takes no time.
void meet(int ranks) {
  static const auto barrier = simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks));
  barrier->wait();
}

}  // namespace

double simulated_us(int ranks, const std::function<void()>& call) {
  static double latest = 0;  // of all ranks, as they run in one process
  meet(ranks);
  const double start = simgrid::s4u::Engine::get_clock();
  latest = start;
  meet(ranks);
  call();
  latest = std::max(latest, simgrid::s4u::Engine::get_clock());
  meet(ranks);
  return (latest - start) * 1e6;
}

bool on_all_ranks(int ranks, bool here) {
  static int missing = 0;
  meet(ranks);
  missing = 0;
  meet(ranks);
  if (!here) ++missing;
  meet(ranks);
  return missing == 0;
}

}  // namespace chorus::bench
