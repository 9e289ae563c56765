// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "kernels/kernels.hpp"
#include "transport/shared_group.hpp"

#include <span>

namespace chorus {

/// Data that travels in the cache line of the arrival.
struct InLine {
  static constexpr int slots = line_slots;
  static std::size_t capacity(const Problem& /*problem*/) { return payload_bytes; }
  static void write(SharedGroup& memory, Round round, const std::byte* data, std::size_t bytes,
                    std::size_t offset = 0) {
    if (bytes > 0) std::memcpy(memory.payload(round) + offset, data, bytes);
  }
  static const std::byte* of(const SharedGroup& memory, Round round, int rank) { return memory.payload(round, rank); }
  static std::span<const std::byte*> of_all(SharedGroup& memory, Round round) { return memory.payloads(round); }
  static void fetch_beginning(const SharedGroup& /*memory*/, Round /*round*/, int /*rank*/) {}  // comes with the line
};

/// Data that stands in a slot when its rank arrives.
struct InSlot {
  static constexpr int slots = data_slots;
  static std::size_t capacity(const Problem& problem) { return problem.slot_bytes; }
  static void write(SharedGroup& memory, Round round, const std::byte* data, std::size_t bytes,
                    std::size_t offset = 0) {
    memory.put(memory.slot(round, memory.rank()) + offset, data, bytes);
    prefetch_for_write(memory.slot(round + lines_fetched, memory.rank()));
  }
  static const std::byte* of(const SharedGroup& memory, Round round, int rank) { return memory.slot(round, rank); }
  static std::span<const std::byte*> of_all(SharedGroup& memory, Round round) { return memory.slots(round, 0); }
  static void fetch_beginning(const SharedGroup& memory, Round round, int rank) {
    __builtin_prefetch(memory.slot(round, rank));
  }
};

/// True where one place holds a block for every rank.
template <class Place>
bool holds_all_blocks(const Problem& problem) {
  return problem.shared && problem.call.bytes() * static_cast<std::size_t>(problem.ranks) <= Place::capacity(problem);
}

/// Whose arrival a rank waits for. Givers wait for nobody themselves, and may be rounds ahead.
enum class Awaited { everybody, all_givers, givers_before, giving_root, nobody };

/// A collective of one round in shared memory, as a coroutine and without one. `Place` is InLine or InSlot; `Steps` has
///   write(memory, round, a)   writes this rank's data into its place
///   awaited(memory, a)        whose arrival this rank needs
///   read(memory, round, a)    makes the result of what has arrived
template <class Steps, class Place>
struct OneRound {
  static bool applies(const Problem& problem) {
    return problem.shared && problem.call.bytes() <= Place::capacity(problem);
  }

  static Task<> run(Transport& transport, Arguments arguments) {
    SharedGroup& memory = *transport.shared();
    const Round round = co_await memory.open(Place::slots);
    Steps::write(memory, round, arguments);
    memory.arrive(round);
    const Awaited awaited = Steps::awaited(memory, arguments);
    if (awaited == Awaited::everybody || awaited == Awaited::all_givers) co_await memory.arrivals(round);
    if (awaited == Awaited::givers_before) co_await memory.arrivals_before(round);
    if (awaited == Awaited::giving_root) co_await memory.arrival(round, arguments.call.root);
    Steps::read(memory, round, arguments);
  }

  static void now(Transport& transport, const Arguments& arguments) {
    SharedGroup& memory = *transport.shared();
    const Round round = memory.open_now(Place::slots);
    Steps::write(memory, round, arguments);
    memory.arrive(round);
    const Awaited awaited = Steps::awaited(memory, arguments);
    if (awaited == Awaited::all_givers) wait_for_givers(memory, round, 0, memory.size());
    if (awaited == Awaited::givers_before) wait_for_givers(memory, round, 0, memory.rank());
    if (awaited == Awaited::giving_root) wait_for_givers(memory, round, arguments.call.root, arguments.call.root + 1);
    if (awaited == Awaited::everybody || awaited == Awaited::all_givers) memory.wait_for_all(round);
    Steps::read(memory, round, arguments);
  }

 private:
  /// Those from `first` to before `end`; what they may have written for the next round comes meanwhile.
  static void wait_for_givers(SharedGroup& memory, Round round, int first, int end) {
    for (int giver = first; giver < end; ++giver) {
      memory.wait_for_giver(round, giver);
      Place::fetch_beginning(memory, round + 1, giver);
    }
  }
};

}  // namespace chorus
