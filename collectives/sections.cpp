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

/// Where the section for one rank lies in the giver's slot, or that it comes by message.
struct Entry {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  static constexpr std::uint64_t by_message = ~std::uint64_t{0};
};

std::span<Entry> entries_in(const Scratch& scratch, std::size_t count) {
  return {reinterpret_cast<Entry*>(scratch.data()), count};
}

/// The table of what this rank gives: sections lie behind it as long as they fit, equal ones at one place.
void fill_table(std::span<Entry> table, std::span<const Section> sections, std::size_t me, std::size_t slot_bytes) {
  std::size_t end = table.size_bytes();
  const Section* last = nullptr;
  std::uint64_t last_begin = 0;
  for (std::size_t rank = 0; rank < table.size(); ++rank) {
    const Section& section = sections[rank];
    table[rank] = {.begin = end, .bytes = section.bytes};
    if (rank == me || section.bytes == 0) continue;
    if (last != nullptr && *last == section) {
      table[rank].begin = last_begin;
      continue;
    }
    if (section.bytes > slot_bytes - end) {
      table[rank].begin = Entry::by_message;
    } else {
      end += section.bytes;
    }
    last = &section;
    last_begin = table[rank].begin;
  }
}

/// Writes the table and what lies behind it into this rank's slot.
void write_slot(const SharedGroup& memory, Round round, std::span<const Entry> table, std::span<const Section> sections,
                const std::byte* in) {
  std::byte* const slot = memory.slot(round, memory.rank());
  std::memcpy(slot, table.data(), table.size_bytes());
  std::uint64_t written = 0;  // where the last section begins that is there: equal ones lie at one place
  for (std::size_t rank = 0; rank < table.size(); ++rank) {
    const Entry& entry = table[rank];
    const bool here = entry.bytes > 0 && entry.begin != Entry::by_message && entry.begin != written;
    if (!here || rank == static_cast<std::size_t>(memory.rank())) continue;
    written = entry.begin;
    kernels::copy(slot + entry.begin, in + sections[rank].offset, entry.bytes, store_for(memory, entry.bytes));
  }
}

void check_length(const Call& call, const SharedGroup& memory, int peer, const Entry& entry, const Section& expected) {
  if (entry.bytes == expected.bytes) return;
  throw Error(ErrorCode::mismatch,
              fmt::format("rank {} gives {} bytes where rank {} expects {}; the counts of {} must agree",
                          memory.communicator_rank(peer), entry.bytes, memory.communicator_rank(memory.rank()),
                          expected.bytes, name(call.collective)));
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

bool gives_to(const Call& call, int from, int to) {
  if (call.collective == Collective::gatherv) return to == call.root;
  return call.collective != Collective::scatterv || from == call.root;
}

/// The ranks a rank gives to and gets from at the same time; no_rank: none.
struct Step {
  int ahead = no_rank;
  int behind = no_rank;
};

/// Gives and gets by messages. `in`: where the sections to give are.
Exchange pass_in_step(Transport& transport, const Arguments& arguments, const std::byte* in, const Step& step,
                      Where where = Where::here()) {
  Envelope envelope{.destination = step.ahead, .source = step.behind, .where = where};
  if (step.ahead != no_rank) {
    const Section& to = arguments.in_sections[static_cast<std::size_t>(step.ahead)];
    envelope.outgoing = {in + to.offset, to.bytes};
  }
  if (step.behind != no_rank) {
    const Section& from = arguments.out_sections[static_cast<std::size_t>(step.behind)];
    envelope.incoming = {arguments.out + from.offset, from.bytes};
  }
  return transport.start(envelope);
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
  const int me = memory.rank();
  const int ranks = memory.size();
  const auto index = [](int rank) { return static_cast<std::size_t>(rank); };
  const Scratch given = transport.scratch(index(ranks) * sizeof(Entry));
  const Scratch gotten = transport.scratch(index(ranks) * sizeof(Entry));
  const std::span<Entry> table = entries_in(given, index(ranks));
  const std::span<Entry> theirs = entries_in(gotten, index(ranks));
  const Scratch copy = kept_input(transport, arguments);
  const std::byte* const in = copy.bytes().empty() ? arguments.in : copy.data();
  fill_table(table, arguments.in_sections, index(me), memory.slot_bytes());

  const Round round = co_await memory.open(data_slots);
  write_slot(memory, round, table, arguments.in_sections, in);
  memory.arrive(round);
  copy_own(arguments, index(me));
  for (int step = 1; step < ranks; ++step) {
    const int peer = (me + step) % ranks;
    Entry& entry = theirs[index(peer)];
    entry = {};
    if (!gives_to(arguments.call, peer, me)) continue;
    co_await memory.arrival(round, peer);
    const std::byte* const slot = memory.slot(round, peer);
    const Section& section = arguments.out_sections[index(peer)];
    std::memcpy(&entry, slot + index(me) * sizeof(Entry), sizeof entry);
    check_length(arguments.call, memory, peer, entry, section);
    if (entry.begin == Entry::by_message) continue;
    kernels::copy(arguments.out + section.offset, slot + entry.begin, entry.bytes, kernels::Store::cached);
  }
  for (int step = 1; step < ranks; ++step) {
    const int ahead = (me + step) % ranks;
    const int behind = (me + ranks - step) % ranks;
    const bool gives = table[index(ahead)].begin == Entry::by_message;
    const bool gets = theirs[index(behind)].begin == Entry::by_message;
    if (!gives && !gets) continue;
    co_await pass_in_step(transport, arguments, in,
                          {.ahead = gives ? ahead : no_rank, .behind = gets ? behind : no_rank});
  }
}

Task<> pass_by_messages(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const Scratch copy = kept_input(transport, arguments);
  const std::byte* const in = copy.bytes().empty() ? arguments.in : copy.data();
  copy_own(arguments, static_cast<std::size_t>(me));
  for (int step = 1; step < ranks; ++step) {
    const int ahead = (me + step) % ranks;
    const int behind = (me + ranks - step) % ranks;
    const bool gives = gives_to(arguments.call, me, ahead);
    const bool gets = gives_to(arguments.call, behind, me);
    if (!gives && !gets) continue;
    co_await pass_in_step(transport, arguments, in,
                          {.ahead = gives ? ahead : no_rank, .behind = gets ? behind : no_rank});
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
