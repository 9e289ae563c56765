// SPDX-License-Identifier: Apache-2.0
#include "links.hpp"

#include "fit.hpp"
#include "kernels/kernels.hpp"
#include "transport/communicator_state.hpp"
#include "transport/network_pace.hpp"
#include "transport/pace.hpp"
#include "transport/shared_group.hpp"

#include <chorus/allreduce.hpp>
#include <chorus/barrier.hpp>
#include <chorus/reduce_op.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace chorus::tune {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double of_slowest(const Communicator& world, double us) {
  allreduce(world, std::span(&us, 1), ReduceOp::max);
  return us;
}

/// Carries out a task on the transport of `world`, as its collectives are.
void drive(const Communicator& world, Task<> task) {
  world.state().prepare({});
  world.state().drive(std::move(task));
}

constexpr double us_for_each = 50'000;  // of what is timed, three times

/// How often what takes so long is timed in a row.
int repetitions_of(double us) { return static_cast<int>(std::clamp(us_for_each / us, 2.0, 100.0)); }

Task<> time(Transport& transport, Exchanges exchanges, double& us) {
  us = co_await time_exchanges(transport, exchanges);
}

double us_of(const Communicator& world, const Exchanges& exchanges) {
  double us = 0;
  drive(world, time(world.state().transport(), exchanges, us));
  return us;
}

/// What messages in such rings take; none where there is no such ring.
std::optional<MessageLink> measure_messages(const Communicator& world, Rings rings) {
  constexpr double too_slow_us = 20'000;  // for longer messages to be waited for
  constexpr std::array<std::size_t, 10> lengths = {8, 512, 2048, 4096, 8192, 16384, 32768, 131072, 524288, 2097152};
  std::vector<Timing> timings;
  double expected_us = 0;  // by the length before
  for (const std::size_t bytes : lengths) {
    const int repetitions = expected_us == 0 ? 20 : repetitions_of(expected_us);
    const double us = us_of(world, {.rings = rings, .bytes = bytes, .repetitions = repetitions});
    if (us == 0) return std::nullopt;
    timings.push_back({static_cast<double>(bytes), us});
    expected_us = us;
    if (us > too_slow_us && timings.size() > 6) break;
  }
  return fit(timings);
}

/// The share of a message beside another one under way between nodes, where one takes so long; by three at a time, as
/// algorithms of radix 4 send them; the median of several comparisons.
double measure_further_message(const Communicator& world, double expected_us) {
  constexpr int comparisons = 3;
  std::vector<double> shares;
  for (int comparison = 0; comparison < comparisons; ++comparison) {
    Exchanges exchanges{.rings = Rings::of_first_ranks,
                        .bytes = 8,
                        .repetitions = repetitions_of(expected_us),
                        .with = Exchanges::With::next};
    const double one_us = us_of(world, exchanges);
    exchanges.with = Exchanges::With::three;
    shares.push_back(share_of_further_message(one_us, us_of(world, exchanges)));
  }
  return median(std::move(shares));
}

/// How much more goes between nodes where each sends to the next one alone.
double measure_to_next_gain(const Communicator& world) {
  Exchanges exchanges{.rings = Rings::of_first_ranks, .bytes = std::size_t{128} << 10U, .repetitions = 8};
  const double doubling_us = us_of(world, exchanges);
  exchanges.with = Exchanges::With::next;
  return to_next_gain(us_of(world, exchanges), doubling_us);
}

/// What a barrier through the memory of a node takes.
double barrier_us(const Communicator& node) {
  constexpr int calls = 50;
  constexpr int repetitions = 40;
  std::vector<double> us;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto began = Clock::now();
    for (int call = 0; call < calls; ++call) barrier(node, {.algorithm = "line"});
    us.push_back(us_since(began) / calls);
  }
  return median(std::move(us));
}

/// A round of all ranks is a latency and something for each of them: with two rank counts both are known, with one
/// their proportion is taken as it is built in.
void measure_rounds(const Communicator& world, LinkModel& links) {
  const Communicator node = world.node();
  const std::optional<Communicator> pair = node.split(node.rank() < 2 ? std::optional(0) : std::optional<int>());
  const bool measures = node.shares_memory() && node.size() > 1;
  const double pair_us = of_slowest(world, measures && pair ? barrier_us(*pair) : 0);
  barrier(world);
  const double all_us = of_slowest(world, measures ? barrier_us(node) : 0);
  if (pair_us == 0) return;
  int ranks = node.size();
  allreduce(world, std::span(&ranks, 1), ReduceOp::max);
  const double built_in_us = links.shared.latency_us + links.shared_peer_us * 2;
  const double scale = pair_us / built_in_us;
  links.shared.latency_us *= scale;
  links.shared_peer_us *= scale;
  if (ranks == 2) return;
  const double peer_us = (all_us - pair_us) / (ranks - 2);
  if (peer_us <= 0 || pair_us <= 2 * peer_us) return;
  links.shared_peer_us = peer_us;
  links.shared.latency_us = pair_us - 2 * peer_us;
}

Task<> measure_pace_of(SharedGroup& memory, Pace& pace) { pace = co_await measure_pace(memory); }

double median_known(std::vector<double> values) {
  std::erase_if(values, [](double value) { return value <= 0; });
  return values.empty() ? 0 : median(std::move(values));
}

/// What passes through shared memory and what the system copies, by the slowest rank.
void measure_paces(const Communicator& world, LinkModel& links) {
  constexpr int repetitions = 9;
  SharedGroup* const memory = world.state().transport().node_memory();
  const bool has_pace = memory != nullptr && memory->size() > 1 && !world.state().crowded();
  std::vector<double> best, alone, system, system_long, system_us;
  for (int repetition = 0; repetition < repetitions && has_pace; ++repetition) {
    Pace pace;
    drive(world, measure_pace_of(*memory, pace));
    best.push_back(pace.best());
    alone.push_back(pace.alone);
    system.push_back(pace.system);
    system_long.push_back(pace.system_long);
    system_us.push_back(pace.system_us);
  }
  std::array<double, 4> slowness = {};  // 0 where a rank does not know
  const std::array<double, 4> paces = {median_known(best), median_known(system), median_known(system_long),
                                       median_known(alone)};
  for (std::size_t kind = 0; kind < paces.size(); ++kind) slowness[kind] = paces[kind] > 0 ? 1 / paces[kind] : 0;
  allreduce(world, std::span(slowness), ReduceOp::max);
  const double read_us = of_slowest(world, median_known(system_us));
  if (slowness[0] > 0) {
    links.shared.megabytes_per_second = 1 / slowness[0];
    links.shared_alone_megabytes_per_second = 1 / (slowness[3] > 0 ? std::min(slowness[0], slowness[3]) : slowness[0]);
  }
  if (slowness[1] > 0 && slowness[2] > 0) {
    links.read = {.latency_us = read_us, .megabytes_per_second = 1 / slowness[1]};
    links.long_read_megabytes_per_second = 1 / slowness[2];
  }
}

/// Of a vector in the caches, while all ranks reduce one.
void measure_reductions(const Communicator& world, LinkModel& links) {
  constexpr std::size_t count = 8192;
  constexpr int repetitions = 200;
  const std::vector<float> term(count, 1);
  std::vector<float> sum(count);
  const kernels::Reduce add = kernels::reduce(DataType::float32, ReduceOp::sum);
  const std::array<const std::byte*, 2> inputs = {reinterpret_cast<const std::byte*>(sum.data()),
                                                  reinterpret_cast<const std::byte*>(term.data())};
  std::vector<double> us;
  barrier(world);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto began = Clock::now();
    add(reinterpret_cast<std::byte*>(sum.data()), inputs, count, kernels::Store::cached);
    us.push_back(us_since(began));
  }
  const double slowest = of_slowest(world, median(std::move(us)));
  if (slowest > 0) links.reduce_megabytes_per_second = sizeof(float) * count / slowest;
}

}  // namespace

LinkModel measure_links(const Communicator& world, bench::Console& console) {
  barrier(world);  // sets the communicator up
  const bool crowded = world.state().crowded();
  LinkModel links = LinkModel::of(Pace(), crowded);  // of crowded ranks each communicator measures its own
  if (!crowded) {
    console.show("shared memory");
    measure_rounds(world, links);
    measure_paces(world, links);
    console.show("reductions");
    measure_reductions(world, links);
    console.show("messages inside the nodes");
    if (const auto node = measure_messages(world, Rings::inside_nodes)) links.node = *node;
  }
  console.show("messages between the nodes");
  if (!world.state().transport().nodes().empty()) {
    if (const auto network = measure_messages(world, Rings::of_first_ranks)) {
      links.network = *network;
      links.to_next_gain = measure_to_next_gain(world);
      links.further_message = measure_further_message(world, network->latency_us);
    }
    console.show("messages between the nodes, of all ranks");
    const int ranks = senders_across_nodes(world.state().transport().node_sizes());
    if (auto by_all = ranks > 1 ? measure_messages(world, Rings::across_nodes) : std::nullopt) {
      by_all->megabytes_per_second *= ranks;
      by_all->long_megabytes_per_second *= ranks;
      links.network_by_all = by_all;
    }
  }
  return links;
}

}  // namespace chorus::tune
