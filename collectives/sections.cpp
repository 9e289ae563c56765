// SPDX-License-Identifier: Apache-2.0
#include "sections.hpp"

#include "base/names.hpp"
#include "link_model.hpp"
#include "one_round.hpp"
#include "section_costs.hpp"
#include "section_messages.hpp"
#include "single_copy.hpp"
#include "transport/copy_receipt.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace chorus {
namespace {

/// Where the section for one rank stands: among the bytes its giver shows, or in its giver's own memory, or that it
/// comes by message.
struct Entry {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  static constexpr std::uint64_t by_message = ~std::uint64_t{0};
  static constexpr std::uint64_t own_memory = std::uint64_t{1} << 63U;  // no address of a program has this bit
  static constexpr std::uint64_t both_ends = std::uint64_t{1} << 62U;   // nor this one: its giver writes part of it
  [[nodiscard]] bool is_by_message() const { return begin == by_message; }
  [[nodiscard]] bool is_shown() const { return (begin & own_memory) == 0; }
  [[nodiscard]] bool is_in_own_memory() const { return !is_shown() && !is_by_message(); }
  [[nodiscard]] bool is_copied_by_both_ends() const { return is_in_own_memory() && (begin & both_ends) != 0; }
  void set_address(const std::byte* address, bool by_both_ends) {
    begin = reinterpret_cast<std::uintptr_t>(address) | own_memory | (by_both_ends ? both_ends : 0);
  }
  [[nodiscard]] const std::byte* address() const {
    return reinterpret_cast<const std::byte*>(begin & ~(own_memory | both_ends));
  }
};

/// Where a giver writes the first part of its section, while who gets it copies the rest.
struct Target {
  std::byte* out = nullptr;
  std::size_t part = 0;
};

// The places where a rank shows bytes: those of its line, from there on those of its short cell, of which there are as
// many, and then those of its slot.
constexpr std::size_t cell_begin = payload_bytes;
constexpr std::size_t slot_begin = cell_begin + short_cells.bytes;
static_assert(short_cells.count == line_slots);

/// One call through shared memory on one rank: it shows a table of what it gives, and the sections one after another.
class Passage {
 public:
  Passage(Transport& transport, const Arguments& arguments)
      : transport_(transport),
        memory_(*transport.shared()),
        arguments_(arguments),
        me_(memory_.rank()),
        ranks_(memory_.size()),
        receivers_(receivers(transport, arguments.call)),
        givers_(givers(transport, arguments.call)),
        rooted_(has_root(arguments.call.collective)),
        one_section_(gives_one_section(arguments.call, ranks_)),
        table_bytes_((one_section_ ? 1 : index(ranks_)) * sizeof(Entry)),
        table_(place_behind(0, table_bytes_)) {}

  /// How many there are of what this rank writes to show what it gives.
  [[nodiscard]] int slots() const {
    if (gives_nothing()) return line_slots;
    std::size_t end = table_ + table_bytes_;
    for (int peer = receivers_.first; peer < receivers_.end; ++peer) {
      if (peer == me_) continue;
      const std::size_t bytes = arguments_.in_sections[index(peer)].bytes;
      end = place_behind(end, bytes) + bytes;
      if (one_section_ || end > slot_begin) break;
    }
    return end <= slot_begin ? line_slots : data_slots;
  }

  /// Shows what this rank gives in `round`.
  void give(Round round) {
    if (gives_nothing()) return;
    std::size_t end = table_ + table_bytes_;
    std::size_t before_slot = end <= slot_begin ? end : 0;
    for (int peer = receivers_.first; peer < receivers_.end; ++peer) {
      if (peer == me_) continue;
      end = show(round, peer, end);
      if (end <= slot_begin) before_slot = end;
      if (one_section_) break;
    }
    if (before_slot > cell_begin) memory_.note_cell(before_slot - cell_begin);
    in_slot_ = end > slot_begin ? end - slot_begin : 0;
    fetch_next(memory_.slot(round + places_fetched, me_), in_slot_);
  }

  /// Waits for `peer`, of which something is to be taken.
  void wait_for(SharedGroup::Waits& waits, Round round, int peer) {
    if (rooted_) {
      ahead_ = waits.for_giver(round, peer);
    } else if (in_slot_ <= machine::fetched_in_wait) {
      waits.for_arrival(round, peer, {memory_.slot(round, peer), in_slot_});  // which shows about as much
    } else {
      waits.for_arrival(round, peer);
    }
  }

  /// The rank `step` places ahead of this one, and that behind.
  [[nodiscard]] int ahead(int step) const { return me_ + step < ranks_ ? me_ + step : me_ + step - ranks_; }
  [[nodiscard]] int behind(int step) const { return me_ >= step ? me_ - step : me_ - step + ranks_; }
  [[nodiscard]] bool gets_from(int peer) const { return givers_.contain(peer); }

  /// Takes what `peer`, which has arrived, shows for this rank in `round`.
  void take(Round round, int peer) {
    const Entry entry = entry_of(round, peer, me_);
    const Section& section = arguments_.out_sections[index(peer)];
    check_length(arguments_.call, memory_.communicator_rank(peer), entry.bytes, memory_.communicator_rank(me_),
                 section.bytes);
    if (!entry.is_shown()) {
      whole_ = false;
    } else if (entry.bytes > 0) {
      std::memcpy(arguments_.out + section.offset, shown(round, peer, entry.begin), entry.bytes);
      const bool is_short = entry.bytes < machine::streaming_from;
      if (ahead_ && is_short) prefetch_for_read({shown(round + 1, peer, entry.begin), entry.bytes});
    }
  }

  /// True where this rank copies its own section later: of a gatherv's root, while others write theirs.
  [[nodiscard]] bool keeps_later() {
    if (!both_ends() || !gives_nothing() || arguments_.in == arguments_.out) return false;
    const std::size_t bytes = arguments_.in_sections[index(me_)].bytes;
    return bytes > short_cells.bytes && bytes > longest_in_slot();
  }
  void keep_own() {
    if (!std::exchange(kept_, true)) copy_own(arguments_, index(me_));
  }

  /// False where something is not shown, after all that is has been taken.
  [[nodiscard]] bool whole() const { return whole_; }
  /// Passes that: this rank copies what stands in the memory of others, and gives a receipt, so that they may change it
  /// or send it after all.
  Task<> pass_rest(Round round) {
    const Input in = input();
    if (gives_nothing()) co_await tell_targets(round);  // as the root of a gatherv
    keep_own();
    const bool copied = copy_from_others(round);
    for (int step = 1; step < ranks_; ++step) {
      const int next = ahead(step);
      const int previous = behind(step);
      const Entry going = receivers_.contain(next) ? entry_of(round, me_, next) : Entry();
      const Entry coming = gets_from(previous) ? entry_of(round, previous, me_) : Entry();
      bool given = !going.is_by_message();
      bool taken = !coming.is_by_message();
      if (going.is_copied_by_both_ends()) {
        given = co_await write_part(next, in);
      } else if (going.is_in_own_memory()) {
        given = co_await CopyReceipt(memory_, round, next);
      }
      if (coming.is_copied_by_both_ends()) {
        taken = co_await read_rest(previous, coming);
      } else if (coming.is_in_own_memory()) {
        taken = copied;
      }
      if (given && taken) continue;
      co_await pass_in_step(transport_, arguments_, in,
                            {.ahead = given ? no_rank : next, .behind = taken ? no_rank : previous});
    }
  }

 private:
  [[nodiscard]] bool gives_nothing() const { return receivers_.first == receivers_.end; }

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  [[nodiscard]] const std::byte* shown(Round round, int rank, std::size_t place) const {
    return place < cell_begin ? memory_.payload(round, rank) + place : behind_line(round, rank, place);
  }
  [[nodiscard]] std::byte* own(Round round, std::size_t place) {
    return place < cell_begin ? memory_.payload(round) + place : behind_line(round, me_, place);
  }
  [[nodiscard]] std::byte* behind_line(Round round, int rank, std::size_t place) const {
    if (place < slot_begin) return memory_.cell(short_cells, round, rank) + (place - cell_begin);
    return memory_.slot(round, rank) + (place - slot_begin);
  }
  /// Where `bytes` are shown, or their beginning, behind what ends at `end`: the slot has room for any. Where all wait
  /// for all nothing is gained by cells.
  [[nodiscard]] std::size_t place_behind(std::size_t end, std::size_t bytes) const {
    if (end + bytes <= cell_begin) return end;
    if (rooted_ && std::max(end, cell_begin) + bytes <= slot_begin) return std::max(end, cell_begin);
    return std::max(end, slot_begin);
  }
  [[nodiscard]] std::size_t place_of_entry(int to) const {
    return table_ + (one_section_ ? 0 : index(to) * sizeof(Entry));
  }
  /// What `from` gives to `to`.
  [[nodiscard]] Entry entry_of(Round round, int from, int to) const {
    Entry entry;
    std::memcpy(&entry, shown(round, from, place_of_entry(to)), sizeof entry);
    return entry;
  }

  /// What others may read and messages carry.
  [[nodiscard]] Input input() const { return copy_ ? copy_->input() : input_of(arguments_); }

  /// Copies what `peer` has for this rank, from its byte `begin` on, from its memory; false where the system refuses
  /// it.
  [[nodiscard]] bool read(int peer, const Entry& entry, std::size_t begin) const {
    std::byte* const out = arguments_.out + arguments_.out_sections[index(peer)].offset;
    const bool copied = memory_.read(peer, out + begin, entry.address() + begin, entry.bytes - begin);
    memory_.check_others();
    return copied;
  }

  /// Copies what others have for this rank in their own memory; false where the system refuses any of it.
  bool copy_from_others(Round round) {
    bool any = false;
    bool all = true;
    for (int step = 1; step < ranks_; ++step) {
      const int peer = behind(step);
      const Entry entry = gets_from(peer) ? entry_of(round, peer, me_) : Entry();
      if (!entry.is_in_own_memory() || entry.is_copied_by_both_ends()) continue;
      any = true;
      all &= read(peer, entry, 0);
    }
    if (any) give_receipt(memory_, round, all);
    return all;
  }

  /// Where both ends copy: that of what `giver` has for this rank, the root.
  [[nodiscard]] Target target_of(int giver) {
    const Section& section = arguments_.out_sections[index(giver)];
    return {arguments_.out + section.offset, part_of_others(links(), ranks_, section.bytes, keeps_later() ? 1 : 0)};
  }
  Task<> tell_targets(Round round) {
    for (int giver = givers_.first; giver < givers_.end; ++giver) {
      if (giver == me_ || !entry_of(round, giver, me_).is_copied_by_both_ends()) continue;
      const Target target = target_of(giver);
      co_await transport_.start({.outgoing = bytes_of(target), .destination = giver, .where = Where::here()});
    }
  }
  Task<bool> write_part(int root, const Input& in) {
    Target target;
    co_await transport_.start({.incoming = writable_bytes_of(target), .source = root, .where = Where::here()});
    const ConstBytes part(in.bytes + in.sections[index(root)].offset, target.part);
    co_return co_await both_copied(root, memory_.write(root, target.out, part));
  }
  Task<bool> read_rest(int giver, const Entry& entry) {
    co_return co_await both_copied(giver, read(giver, entry, target_of(giver).part));
  }
  /// True where this rank has, and so has `peer`.
  Task<bool> both_copied(int peer, bool copied) {
    bool theirs = false;
    co_await transport_.start({.outgoing = bytes_of(copied),
                               .destination = peer,
                               .incoming = writable_bytes_of(theirs),
                               .source = peer,
                               .where = Where::here()});
    co_return theirs ? copied : false;
  }

  /// The longest section that this rank shows in its slot; worked out for the first that does not fit into its line.
  [[nodiscard]] std::size_t longest_in_slot() {
    if (!longest_in_slot_) {
      const std::size_t slot = memory_.slot_bytes();
      longest_in_slot_ = memory_.reads() ? longest_shown(arguments_.call, ranks_, slot, links()) : slot;
    }
    return *longest_in_slot_;
  }
  [[nodiscard]] const LinkModel& links() const { return or_built_in(arguments_.links); }
  [[nodiscard]] bool both_ends() const { return memory_.reads() && givers_write(arguments_.call, links(), ranks_); }

  /// Shows the section for `peer` at `end` or behind; returns the end of it.
  std::size_t show(Round round, int peer, std::size_t end) {
    const Section& section = arguments_.in_sections[index(peer)];
    Entry entry{.begin = place_behind(end, section.bytes), .bytes = section.bytes};
    const std::size_t left = slot_begin + memory_.slot_bytes() - entry.begin;
    if (entry.begin >= slot_begin && section.bytes > std::min(left, longest_in_slot())) {
      whole_ = false;
      if (!copy_ && swaps(arguments_)) copy_.emplace(transport_, arguments_);
      entry.begin = Entry::by_message;
      if (memory_.reads()) entry.set_address(input().bytes + input().sections[index(peer)].offset, both_ends());
    } else {
      memory_.put(own(round, entry.begin), arguments_.in + section.offset, section.bytes);
      end = entry.begin + section.bytes;
    }
    std::memcpy(own(round, place_of_entry(peer)), &entry, sizeof entry);
    return end;
  }

  Transport& transport_;
  SharedGroup& memory_;
  const Arguments& arguments_;
  int me_;
  int ranks_;
  Ranks receivers_;
  Ranks givers_;
  bool rooted_;
  bool one_section_;
  std::size_t table_bytes_;
  std::size_t table_;        // where it begins
  std::size_t in_slot_ = 0;  // of what this rank shows
  bool ahead_ = false;       // the rank of which something is taken has probably gone on to the next round
  bool whole_ = true;
  bool kept_ = false;
  std::optional<std::size_t> longest_in_slot_;
  std::optional<InputCopy> copy_;  // of the input, where it is overwritten before it is read
};

}  // namespace

bool fits_memory(const Problem& problem) {
  return problem.shared && static_cast<std::size_t>(problem.ranks) * sizeof(Entry) <= problem.slot_bytes;
}

Task<> pass_through_memory(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  Passage passage(transport, arguments);
  const Round round = co_await memory.open(passage.slots());
  passage.give(round);
  memory.arrive(round);
  if (!passage.keeps_later()) passage.keep_own();
  for (int step = 1; step < memory.size(); ++step) {
    const int peer = passage.ahead(step);
    if (!passage.gets_from(peer)) continue;
    co_await memory.arrival(round, peer);
    passage.take(round, peer);
  }
  passage.whole() ? passage.keep_own() : co_await passage.pass_rest(round);
}

void pass_through_memory_now(Transport& transport, const Arguments& arguments) {
  SharedGroup& memory = *transport.shared();
  Passage passage(transport, arguments);
  const Round round = memory.open_now(passage.slots());
  passage.give(round);
  memory.arrive(round);
  if (!passage.keeps_later()) passage.keep_own();
  SharedGroup::Waits waits(memory);
  for (int step = 1; step < memory.size(); ++step) {
    const int peer = passage.ahead(step);
    if (!passage.gets_from(peer)) continue;
    passage.wait_for(waits, round, peer);
    passage.take(round, peer);
  }
  passage.whole() ? passage.keep_own() : memory.drive(passage.pass_rest(round));
}

}  // namespace chorus
