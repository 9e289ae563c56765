// SPDX-License-Identifier: Apache-2.0
#include "sections.hpp"

#include "base/names.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace chorus {
namespace {

/// Where the section for one rank lies in what a rank puts into its slots, and how long all of that is.
struct Entry {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t all = 0;
};

std::span<Entry> entries_in(const Scratch& scratch, std::size_t count) {
  return {reinterpret_cast<Entry*>(scratch.data()), count};
}

/// The table of what this rank gives. Its own section and empty ones take no place.
void fill_table(std::span<Entry> table, std::span<const Section> sections, std::size_t me) {
  std::uint64_t end = table.size_bytes();
  const Section* last = nullptr;
  for (std::size_t rank = 0; rank < table.size(); ++rank) {
    table[rank] = {.begin = end, .end = end};
    if (rank == me || sections[rank].bytes == 0) continue;
    if (last != nullptr && *last == sections[rank]) {
      table[rank].begin = end - sections[rank].bytes;
    } else {
      table[rank].end = end += sections[rank].bytes;
    }
    last = &sections[rank];
  }
  for (Entry& entry : table) entry.all = end;
}

/// Copies between a slot, which holds the bytes from `window` on, and the section that lies at `entry` among them.
template <class Copy>
void copy_window(const Entry& entry, std::uint64_t window, std::size_t slot_bytes, const Copy& copy) {
  const std::uint64_t begin = std::max(entry.begin, window);
  const std::uint64_t end = std::min(entry.end, window + slot_bytes);
  if (begin < end) copy(begin - window, begin - entry.begin, end - begin);
}

void check_length(const Call& call, const SharedGroup& memory, int peer, const Entry& entry, const Section& expected) {
  if (entry.end - entry.begin == expected.bytes) return;
  throw Error(ErrorCode::mismatch,
              fmt::format("rank {} gives {} bytes where rank {} expects {}; the counts of {} must agree",
                          memory.communicator_rank(peer), entry.end - entry.begin,
                          memory.communicator_rank(memory.rank()), expected.bytes, name(call.collective)));
}

/// In place each block that comes overwrites the one that goes: true where others than this rank's own may.
bool swaps(const Arguments& arguments) {
  return arguments.in == arguments.out && arguments.call.collective == Collective::alltoallv;
}

/// A copy of `in` where it is overwritten before it is read.
Scratch kept_input(Transport& transport, const Arguments& arguments) {
  std::size_t end = 0;
  if (swaps(arguments)) {
    for (const Section& section : arguments.in_sections) end = std::max(end, section.offset + section.bytes);
  }
  Scratch scratch = transport.scratch(end);
  if (end > 0) std::memcpy(scratch.data(), arguments.in, end);
  return scratch;
}

void copy_own(const Arguments& arguments, std::size_t me) {
  if (arguments.in == arguments.out) return;
  const Section& from = arguments.in_sections[me];
  if (from.bytes > 0)
    std::memcpy(arguments.out + arguments.out_sections[me].offset, arguments.in + from.offset, from.bytes);
}

/// In a collective with a root: whether `from` gives anything to `to`.
bool gives_to(const Call& call, int from, int to) {
  return call.collective == Collective::gatherv ? to == call.root : from == call.root;
}

/// What a rank has for itself is not passed.
double passed_bytes(const Problem& problem) {
  return problem.ranks > 1 ? static_cast<double>(problem.call.bytes()) : 0;
}

}  // namespace

bool fits_memory(const Problem& problem) {
  return problem.shared && static_cast<std::size_t>(problem.ranks) * sizeof(Entry) <= problem.slot_bytes;
}

Task<> pass_through_memory(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const auto me = static_cast<std::size_t>(memory.rank());
  const auto ranks = static_cast<std::size_t>(memory.size());
  const std::size_t slot_bytes = memory.slot_bytes();
  const Scratch given = transport.scratch(ranks * sizeof(Entry));
  const Scratch gotten = transport.scratch(ranks * sizeof(Entry));
  const std::span<Entry> table = entries_in(given, ranks);
  const std::span<Entry> theirs = entries_in(gotten, ranks);
  fill_table(table, arguments.in_sections, me);
  const Scratch copy = kept_input(transport, arguments);
  const std::byte* const in = copy.bytes().empty() ? arguments.in : copy.data();
  copy_own(arguments, me);

  std::uint64_t longest = table[me].all;
  for (std::uint64_t window = 0; window < longest; window += slot_bytes) {
    const Round round = co_await memory.open(data_slots);
    std::byte* const slot = memory.slot(round, memory.rank());
    if (window == 0) std::memcpy(slot, table.data(), table.size_bytes());
    std::uint64_t written = 0;  // where the last section begins that is there: equal ones lie at one place
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (table[rank].begin == table[rank].end || table[rank].begin == written) continue;
      written = table[rank].begin;
      copy_window(table[rank], window, slot_bytes, [&](std::size_t to, std::size_t from, std::size_t bytes) {
        kernels::copy(slot + to, in + arguments.in_sections[rank].offset + from, bytes, store_for(memory, bytes));
      });
    }
    memory.arrive(round);
    co_await memory.arrivals(round);
    for (std::size_t step = 1; step < ranks; ++step) {
      const std::size_t rank = (me + step) % ranks;
      const auto peer = static_cast<int>(rank);
      const std::byte* const their_slot = memory.slot(round, peer);
      const Section& section = arguments.out_sections[rank];
      if (window == 0) {
        std::memcpy(&theirs[rank], their_slot + me * sizeof(Entry), sizeof(Entry));
        longest = std::max(longest, theirs[rank].all);
        check_length(arguments.call, memory, peer, theirs[rank], section);
      }
      copy_window(theirs[rank], window, slot_bytes, [&](std::size_t from, std::size_t to, std::size_t bytes) {
        kernels::copy(arguments.out + section.offset + to, their_slot + from, bytes, kernels::Store::cached);
      });
    }
  }
}

Task<> pass_by_messages(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const bool rooted = has_root(arguments.call.collective);
  const Scratch copy = kept_input(transport, arguments);
  const std::byte* const in = copy.bytes().empty() ? arguments.in : copy.data();
  copy_own(arguments, static_cast<std::size_t>(me));
  for (int step = 1; step < ranks; ++step) {
    const int ahead = (me + step) % ranks;
    const int behind = (me + ranks - step) % ranks;
    const Section& to = arguments.in_sections[static_cast<std::size_t>(ahead)];
    const Section& from = arguments.out_sections[static_cast<std::size_t>(behind)];
    const ConstBytes outgoing(in + to.offset, to.bytes);
    const Bytes incoming(arguments.out + from.offset, from.bytes);
    const bool gives = !rooted || gives_to(arguments.call, me, ahead);
    const bool gets = !rooted || gives_to(arguments.call, behind, me);
    if (gives && gets) {
      co_await transport.sendrecv(outgoing, ahead, incoming, behind);
    } else if (gives) {
      co_await transport.send(outgoing, ahead);
    } else if (gets) {
      co_await transport.receive(incoming, behind);
    }
  }
}

Traffic memory_traffic(const Problem& problem) {
  const double bytes = passed_bytes(problem);
  return {.shared = {.messages = 1 + bytes / static_cast<double>(problem.slot_bytes), .bytes = 2 * bytes, .reduced = 0},
          .messages = {}};
}

Traffic message_traffic(const Problem& problem) {
  const double bytes = passed_bytes(problem);
  return {.shared = {}, .messages = {.messages = problem.ranks - 1.0, .bytes = bytes, .reduced = 0}};
}

}  // namespace chorus
