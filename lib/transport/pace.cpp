// SPDX-License-Identifier: Apache-2.0
#include "transport/pace.hpp"

#include "base/guarded.hpp"
#include "base/machine.hpp"
#include "kernels/kernels.hpp"
#include "transport/gathering.hpp"
#include "transport/shared_group.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace chorus {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up = data_slots;
constexpr int repetitions = 8;
constexpr int renewing_repetitions = 3;
constexpr int rounds_at_once = 8;
constexpr int attempts = 8;  // while the system moves ranks that are not bound apart

/// Shows every rank what the others give here: the round in whose payloads it lies.
template <class T>
Task<Round> shown(SharedGroup& memory, const T& value) {
  static_assert(sizeof value <= payload_bytes);
  const Round round = co_await memory.open(line_slots);
  std::memcpy(memory.payload(round), &value, sizeof value);
  memory.arrive(round);
  co_await memory.arrivals(round);
  co_return round;
}

/// Writes this rank's slot by `store` and reads its neighbour's.
Task<> pass_on(kernels::Store store, SharedGroup& memory, std::vector<std::byte>& buffer, Round round) {
  const int neighbour = (memory.rank() + 1) % memory.size();
  kernels::copy(memory.slot(round, memory.rank()), buffer.data(), buffer.size(), store);
  memory.arrive(round);
  co_await memory.arrivals(round);
  kernels::copy(buffer.data(), memory.slot(round, neighbour), buffer.size(), kernels::Store::cached);
}

/// The pace by `store`: that of the shortest time in which this rank has passed on data.
Task<double> pace_by(kernels::Store store, SharedGroup& memory, std::vector<std::byte>& buffer, int repetitions) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int repetition = -warm_up; repetition < repetitions; ++repetition) {
    const Round round = co_await memory.open(data_slots);
    const auto began = Clock::now();
    co_await pass_on(store, memory, buffer, round);
    const std::chrono::duration<double, std::micro> took = Clock::now() - began;
    if (repetition >= 0) shortest = std::min(shortest, took.count());
  }
  co_return 2 * static_cast<double>(buffer.size()) / shortest;
}

/// The same where ranks share cores: of several rounds in a row, as who has a core in one waits for it in another.
Task<double> pace_of_rounds_by(kernels::Store store, SharedGroup& memory, std::vector<std::byte>& buffer) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int repetition = -1; repetition < renewing_repetitions; ++repetition) {
    const auto began = Clock::now();
    for (int number = 0; number < rounds_at_once; ++number) {
      const Round round = co_await memory.open(data_slots);
      co_await pass_on(store, memory, buffer, round);
    }
    const std::chrono::duration<double, std::micro> took = Clock::now() - began;
    if (repetition >= 0) shortest = std::min(shortest, took.count());
  }
  co_return 2 * rounds_at_once* static_cast<double>(buffer.size()) / shortest;
}

/// The pace at which the first rank reads what its neighbour has written, while the others wait. 0 on those, and of two
/// ranks, who do not disturb each other much.
Task<double> pace_alone(SharedGroup& memory, std::vector<std::byte>& buffer, int repetitions) {
  if (memory.size() <= 2) co_return 0;
  double shortest = std::numeric_limits<double>::infinity();
  for (int repetition = -warm_up; repetition < repetitions; ++repetition) {
    const Round round = co_await memory.open(data_slots);
    kernels::copy(memory.slot(round, memory.rank()), buffer.data(), buffer.size(), kernels::Store::cached);
    memory.arrive(round);
    co_await memory.arrivals(round);
    if (memory.rank() == 0) {
      const auto began = Clock::now();
      kernels::copy(buffer.data(), memory.slot(round, 1), buffer.size(), kernels::Store::cached);
      const std::chrono::duration<double, std::micro> took = Clock::now() - began;
      if (repetition >= 0) shortest = std::min(shortest, took.count());
    }
    co_await shown(memory, repetition);
  }
  co_return static_cast<double>(buffer.size()) / shortest;
}

/// A block of which the slots of all rounds stay in a core's own caches.
std::size_t near_bytes(const SharedGroup& memory) { return std::min(machine::pace_renewed_by, memory.slot_bytes()); }

/// Takes the faster way to copy for this process. Each is tried twice, as one of the times may be disturbed.
Task<> choose_how_to_copy(SharedGroup& memory) {
  using kernels::CopyBy;
  std::vector<std::byte> buffer(near_bytes(memory));
  double by_library = 0;
  double by_vectors = 0;
  for (int again = 0; again < 2; ++again) {
    kernels::set_copy_by(CopyBy::library);
    by_library = std::max(by_library, co_await pace_by(kernels::Store::cached, memory, buffer, repetitions));
    kernels::set_copy_by(CopyBy::vectors);
    by_vectors = std::max(by_vectors, co_await pace_by(kernels::Store::cached, memory, buffer, repetitions));
  }
  kernels::set_copy_by(by_vectors > by_library ? CopyBy::vectors : CopyBy::library);
}

/// The shortest time in which the system copies so many bytes of the neighbour's own memory; infinite where it does
/// not.
Task<double> us_by_system(SharedGroup& memory, std::size_t bytes, int repetitions) {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (!memory.reads()) co_return never;
  const std::vector<std::byte> buffer(bytes);
  std::vector<std::byte> copy(bytes);
  const int neighbour = (memory.rank() + 1) % memory.size();
  const std::byte* place = buffer.data();
  const Round showing = co_await shown(memory, place);
  std::memcpy(&place, memory.payload(showing, neighbour), sizeof place);
  bool works = true;
  double shortest = never;
  for (int repetition = -1; repetition < repetitions && works; ++repetition) {
    const auto began = Clock::now();
    works = memory.read(neighbour, copy.data(), place, bytes);
    const std::chrono::duration<double, std::micro> took = Clock::now() - began;
    if (repetition >= 0) shortest = std::min(shortest, took.count());
  }
  co_await shown(memory, works);  // others may still read
  co_return works ? shortest : never;
}

/// Measures into `pace` what the system reads, in blocks that a core's own caches hold and in long ones.
Task<> measure_system(SharedGroup& memory, int repetitions, Pace& pace) {
  constexpr std::size_t bytes = machine::pace_renewed_by;
  const double empty_us = co_await us_by_system(memory, 1, repetitions);
  const double us = co_await us_by_system(memory, bytes, repetitions);
  const double long_us = co_await us_by_system(memory, machine::beyond_caches, repetitions);
  if (!(empty_us < us && us < long_us && std::isfinite(long_us))) co_return;
  pace.system_us = empty_us;
  pace.system = static_cast<double>(bytes) / (us - empty_us);
  pace.system_long = static_cast<double>(machine::beyond_caches) / (long_us - empty_us);
}

/// The median time of a round in which all ranks wait for all: who shares a core with whom makes some much shorter than
/// most.
Task<double> us_of_round(SharedGroup& memory) {
  std::array<double, renewing_repetitions> times{};
  for (int repetition = -1; repetition < renewing_repetitions; ++repetition) {
    const auto began = Clock::now();
    for (int number = 0; number < rounds_at_once; ++number) co_await shown(memory, number);
    const std::chrono::duration<double, std::micro> took = Clock::now() - began;
    if (repetition >= 0) times[static_cast<std::size_t>(repetition)] = took.count() / rounds_at_once;
  }
  const auto median = times.begin() + times.size() / 2;
  std::ranges::nth_element(times, median);
  co_return *median;
}

/// True where no two ranks are on one core at the moment: what they measured is the pace between cores.
Task<bool> are_on_cores_of_their_own(SharedGroup& memory) {
  const int core = sched_getcpu();
  const Round round = co_await shown(memory, core);
  std::vector<int> cores(static_cast<std::size_t>(memory.size()));
  for (int rank = 0; rank < memory.size(); ++rank) {
    std::memcpy(&cores[static_cast<std::size_t>(rank)], memory.payload(round, rank), sizeof core);
  }
  std::ranges::sort(cores);
  co_return std::ranges::adjacent_find(cores) == cores.end();
}

Guarded<KnownPaces>& paces_of_process() noexcept {
  static Guarded<KnownPaces> paces;
  return paces;
}

void remember(const Pace& pace, bool crowded) {
  paces_of_process().update([&](KnownPaces& paces) { paces.of(crowded) = pace; });
}

/// By each way of writing that of the slowest rank: some have read from their own core.
void take_slowest(Pace& pace, const std::vector<Pace>& of_ranks) {
  for (const Pace& other : of_ranks) {
    if (!other.measured(true)) continue;
    pace.cached = std::min(pace.cached, other.cached);
    pace.streamed = std::min(pace.streamed, other.streamed);
  }
}

/// Unknown where two ranks are on one core.
Task<Pace> measure_once(SharedGroup& memory, std::size_t bytes, int repetitions) {
  std::vector<std::byte> buffer(bytes);
  Pace pace;
  pace.streamed = co_await pace_by(kernels::Store::streamed, memory, buffer, repetitions);
  pace.cached = co_await pace_by(kernels::Store::cached, memory, buffer, repetitions);
  pace.alone = co_await pace_alone(memory, buffer, repetitions);
  if (!co_await are_on_cores_of_their_own(memory)) co_return Pace();
  co_await measure_system(memory, repetitions, pace);
  co_return pace;
}

}  // namespace

Task<Pace> measure_pace(SharedGroup& memory) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    co_await choose_how_to_copy(memory);
    const Pace pace = co_await measure_once(memory, memory.slot_bytes(), repetitions);
    if (pace.known()) co_return pace;
  }
  co_return Pace();
}

Task<Pace> measure_crowded_pace(SharedGroup& memory) {
  Pace pace;
  pace.round_us = co_await us_of_round(memory) / memory.size();
  std::vector<std::byte> buffer(near_bytes(memory));
  pace.streamed = co_await pace_of_rounds_by(kernels::Store::streamed, memory, buffer);
  pace.cached = co_await pace_of_rounds_by(kernels::Store::cached, memory, buffer);
  co_await measure_system(memory, renewing_repetitions, pace);
  co_return pace;
}

Task<Pace> agree_on_pace(Transport& transport, SharedGroup* memory, bool crowded, std::vector<KnownPaces> known) {
  std::vector<Pace> paces(known.size());
  std::ranges::transform(known, paces.begin(), [=](const KnownPaces& of_rank) { return of_rank.of(crowded); });
  const auto is_measured = [=](const Pace& pace) { return pace.measured(crowded); };
  if (std::ranges::none_of(paces, is_measured)) {
    if (memory != nullptr && memory->size() > 1) {
      Pace& own = paces[static_cast<std::size_t>(transport.rank())];
      own = crowded ? co_await measure_crowded_pace(*memory) : co_await measure_pace(*memory);
    }
    co_await gather_records(transport, std::as_writable_bytes(std::span(paces)));
  }
  const auto first = std::ranges::find_if(paces, is_measured);
  Pace pace = first == paces.end() ? Pace() : *first;
  if (crowded) take_slowest(pace, paces);
  remember(pace, crowded);
  co_return pace;
}

Task<> renew_pace(SharedGroup& memory) {
  static_assert(sizeof(Pace) <= sizeof(Line));
  Pace pace = co_await measure_once(memory, near_bytes(memory), renewing_repetitions);
  const Round round = co_await memory.open(data_slots);
  std::memcpy(memory.slot(round, memory.rank()), &pace, sizeof pace);  // no slot is shorter than a line
  memory.arrive(round);
  co_await memory.arrivals(round);
  std::memcpy(&pace, memory.slot(round, 0), sizeof pace);
  if (pace.known()) remember(pace, false);
  memory.set_pace(pace);
}

KnownPaces remembered_paces() noexcept { return paces_of_process().get(); }

}  // namespace chorus
