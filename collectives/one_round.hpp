// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/cache_lines.hpp"
#include "base/machine.hpp"
#include "kernels/kernels.hpp"
#include "transport/shared_group.hpp"

#include <span>

namespace chorus {

/// Data that travels in the cache line of the arrival.
struct InLine {
  static constexpr int slots = line_slots;
  static void write(SharedGroup& memory, Round round, const std::byte* data, std::size_t bytes,
                    std::size_t offset = 0) {
    if (bytes > 0) std::memcpy(memory.payload(round) + offset, data, bytes);
  }
  static const std::byte* of(const SharedGroup& memory, Round round, int rank) { return memory.payload(round, rank); }
  static constexpr std::size_t fetched_in_wait = 0;  // all comes with the line
  static constexpr std::size_t fetched_ahead = 0;
  static std::span<const std::byte*> of_all(SharedGroup& memory, Round round) { return memory.payloads(round); }
};

/// Fetches the place to which this rank will write `bytes` a few rounds on, which others have read: all of it where
/// plain stores will write it, and else where it begins.
inline void fetch_next(const std::byte* place, std::size_t bytes) {
  prefetch_for_write({place, bytes < machine::streaming_from ? bytes : 1});
}

/// Short data, which stands in a cell when its rank arrives.
template <const Cells& cells>
struct InCellOf {
  static constexpr int slots = cells.count;
  static void write(SharedGroup& memory, Round round, const std::byte* data, std::size_t bytes,
                    std::size_t offset = 0) {
    std::byte* const place = memory.cell(cells, round, memory.rank()) + offset;
    if constexpr (cells.bytes > machine::streaming_from) {
      memory.put(place, data, bytes);
    } else if (bytes > 0) {
      std::memcpy(place, data, bytes);
    }
    if constexpr (&cells == &short_cells) {
      memory.note_cell(offset + bytes);
    } else {
      fetch_next(memory.cell(cells, round + places_fetched, memory.rank()) + offset, bytes);
    }
  }
  static const std::byte* of(const SharedGroup& memory, Round round, int rank) {
    return memory.cell(cells, round, rank);
  }
  static constexpr std::size_t fetched_in_wait = machine::fetched_in_wait;
  static constexpr std::size_t fetched_ahead = machine::streaming_from;
  static std::span<const std::byte*> of_all(SharedGroup& memory, Round round) { return memory.cells(cells, round); }
};
using InCell = InCellOf<short_cells>;

/// Data that stands in a slot when its rank arrives.
struct InSlot {
  static constexpr int slots = data_slots;
  static void write(SharedGroup& memory, Round round, const std::byte* data, std::size_t bytes,
                    std::size_t offset = 0) {
    memory.put(memory.slot(round, memory.rank()) + offset, data, bytes);
    fetch_next(memory.slot(round + places_fetched, memory.rank()) + offset, bytes);
  }
  static const std::byte* of(const SharedGroup& memory, Round round, int rank) { return memory.slot(round, rank); }
  static constexpr std::size_t fetched_in_wait = machine::fetched_in_wait;
  static constexpr std::size_t fetched_ahead = 0;
  static std::span<const std::byte*> of_all(SharedGroup& memory, Round round) { return memory.slots(round, 0); }
};

/// Writes the equal blocks that a rank has for the others, one behind another.
template <class Place>
void write_for_others(SharedGroup& memory, Round round, const Arguments& arguments) {
  const std::size_t block = arguments.call.bytes();
  const std::size_t before = static_cast<std::size_t>(memory.rank()) * block;
  const std::size_t all = static_cast<std::size_t>(memory.size()) * block;
  const std::size_t behind = before + block;
  Place::write(memory, round, arguments.in, before);
  Place::write(memory, round, arguments.in + behind, all - behind, before);
}
/// Where the block for rank `to` begins among those of rank `from`, another one.
[[nodiscard]] constexpr std::size_t offset_of_block(int from, int to, std::size_t bytes) noexcept {
  return static_cast<std::size_t>(to < from ? to : to - 1) * bytes;
}

/// Calls `step` for each other rank, beginning with the next, so that not all read from one.
template <class Step>
void for_others(const SharedGroup& memory, Step step) {
  for (int rank = memory.rank() + 1; rank < memory.size(); ++rank) step(rank);
  for (int rank = 0; rank < memory.rank(); ++rank) step(rank);
}

/// Whose arrival a rank waits for. Givers do not wait for who takes from them, and may be rounds ahead.
enum class Awaited { everybody, givers, givers_before, giving_root, nobody };

/// What the place of a rank holds: one block, or a block for every other rank.
enum class Holds { one_block, blocks_for_others };

/// A collective of one round in shared memory, as a coroutine and without one, whole and in halves. `Place` is InLine,
/// InCellOf or InSlot, which say how much of it is fetched by who waits, and of the next one of a giver; `Steps` has
///   write(memory, round, a)   writes this rank's data into its place
///   awaited(memory, a)        whose arrival this rank needs
///   read(memory, round, a)    makes the result of what has arrived
template <class Steps, class Place, Holds holds = Holds::one_block>
struct OneRound {
  static Task<> run(Transport& transport, Arguments arguments) {
    SharedGroup& memory = *transport.shared();
    const Round round = co_await memory.open(Place::slots);
    show(memory, round, arguments);
    co_await take_later(transport, arguments, round);
  }

  static void now(Transport& transport, const Arguments& arguments) {
    SharedGroup& memory = *transport.shared();
    const Round round = memory.open_now(Place::slots);
    show(memory, round, arguments);
    take(transport, arguments, round);
  }

  static std::optional<Round> give(Transport& transport, const Arguments& arguments) {
    SharedGroup& memory = *transport.shared();
    const std::optional<Round> round = memory.try_open(Place::slots);
    if (!round) return round;
    memory.begin(arguments.call);
    show(memory, *round, arguments);
    return round;
  }

  static void take(Transport& transport, const Arguments& arguments, Round round) {
    SharedGroup& memory = *transport.shared();
    const Awaited awaited = Steps::awaited(memory, arguments);
    const int root = arguments.call.root;
    const auto now = [&](int peer) { return read_of(memory, round, peer, arguments, Place::fetched_in_wait); };
    const auto next = [&](int peer) { return read_of(memory, round + 1, peer, arguments, Place::fetched_ahead); };
    if (awaited == Awaited::everybody) memory.wait_for_all(round, now);
    if (awaited == Awaited::givers) memory.wait_for_givers(round, 0, memory.size(), next);
    if (awaited == Awaited::givers_before) memory.wait_for_givers(round, 0, memory.rank(), next);
    if (awaited == Awaited::giving_root) memory.wait_for_givers(round, root, root + 1, next);
    Steps::read(memory, round, arguments);
  }

  static Task<> take_later(Transport& transport, Arguments arguments, Round round) {
    SharedGroup& memory = *transport.shared();
    const Awaited awaited = Steps::awaited(memory, arguments);
    if (awaited == Awaited::everybody || awaited == Awaited::givers) co_await memory.arrivals(round);
    if (awaited == Awaited::givers_before) co_await memory.arrivals_before(round);
    if (awaited == Awaited::giving_root) co_await memory.arrival(round, arguments.call.root);
    Steps::read(memory, round, arguments);
  }

  static constexpr Halves halves{give, take, take_later};

 private:
  /// What this rank reads of `peer` in `round` where that is no longer than `most`, and else nothing.
  static ConstBytes read_of(const SharedGroup& memory, Round round, int peer, const Arguments& arguments,
                            std::size_t most) {
    const std::size_t bytes = arguments.call.bytes();
    if (bytes > most) return {};
    const bool one = holds == Holds::one_block || peer == memory.rank();
    return {Place::of(memory, round, peer) + (one ? 0 : offset_of_block(peer, memory.rank(), bytes)), bytes};
  }

  static void show(SharedGroup& memory, Round round, const Arguments& arguments) {
    Steps::write(memory, round, arguments);
    memory.arrive(round);
  }
};

[[nodiscard]] inline std::size_t bytes_in_place(Holds holds, const Call& call, int ranks) {
  return call.bytes() * static_cast<std::size_t>(holds == Holds::blocks_for_others ? ranks - 1 : 1);
}

/// A collective of one round whose data comes with the cache line of the arrival.
template <template <class> class Steps, Holds holds = Holds::one_block>
struct OneRoundInLine : OneRound<Steps<InLine>, InLine, holds> {
  static bool applies(const Problem& problem) {
    return problem.shared && bytes_in_place(holds, problem.call, problem.ranks) <= payload_bytes;
  }
};

/// One in which all wait for all, whose data stands in a slot.
template <template <class> class Steps, Holds holds = Holds::one_block>
struct OneRoundInSlot : OneRound<Steps<InSlot>, InSlot, holds> {
  static bool applies(const Problem& problem) {
    return problem.shared && bytes_in_place(holds, problem.call, problem.ranks) <= problem.slot_bytes;
  }
};

/// One in which some wait for nobody, and may be far ahead: short data stands in a cell, of which there are more.
template <template <class> class Steps, Holds holds = Holds::one_block>
struct OneRoundAhead {
  static bool applies(const Problem& problem) { return OneRoundInSlot<Steps, holds>::applies(problem); }
  static Task<> run(Transport& transport, Arguments arguments) {
    return where_it_fits(transport, arguments, [&](auto round) { return round.run(transport, arguments); });
  }
  static void now(Transport& transport, const Arguments& arguments) {
    where_it_fits(transport, arguments, [&](auto round) { round.now(transport, arguments); });
  }
  static std::optional<Round> give(Transport& transport, const Arguments& arguments) {
    return where_it_fits(transport, arguments, [&](auto round) { return round.give(transport, arguments); });
  }
  static void take(Transport& transport, const Arguments& arguments, Round number) {
    where_it_fits(transport, arguments, [&](auto round) { round.take(transport, arguments, number); });
  }
  static Task<> take_later(Transport& transport, Arguments arguments, Round number) {
    return where_it_fits(transport, arguments,
                         [&](auto round) { return round.take_later(transport, arguments, number); });
  }
  static constexpr Halves halves{give, take, take_later};

 private:
  template <class Place>
  using In = OneRound<Steps<Place>, Place, holds>;

  /// `what` of the OneRound whose place is the shortest that holds the data.
  template <class What>
  static auto where_it_fits(const Transport& transport, const Arguments& arguments, What what) {
    const std::size_t bytes = bytes_in_place(holds, arguments.call, transport.size());
    if (bytes <= short_cells.bytes) return what(In<InCellOf<short_cells>>());
    const bool in_long_cell = bytes <= long_cells.bytes && has_long_cells(transport.shared()->slot_bytes());
    if (in_long_cell) return what(In<InCellOf<long_cells>>());
    return what(In<InSlot>());
  }
};

}  // namespace chorus
