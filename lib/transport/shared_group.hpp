// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"
#include "base/cache_lines.hpp"
#include "base/call.hpp"
#include "base/machine.hpp"
#include "kernels/kernels.hpp"
#include "task/operation.hpp"
#include "task/wait.hpp"
#include "topology/node_shape.hpp"
#include "transport/pace.hpp"
#include "transport/shared_region.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// The memory that the ranks of one node share, for one communicator, and the protocol on it.
//
// A collective is a series of rounds, the same on every rank. In a round a rank arrives: it writes one 64-byte line of
// its own, with the number of the round, a signature of its calls and up to 56 bytes of payload. Others wait for that
// line and read it, and what the rank had put into its data slot before. Nobody writes another's line or slot, and
// nothing is ever reset: a later round uses another of several lines and slots, and a rank opens a round only when
// everybody has left the round that used them last. A rank arrives at a round after it has finished the one before.
namespace chorus {

/// The rank differs from others about the call; the table is made by whoever catches it.
struct MismatchFound : std::exception {};

/// Another rank has given the communicator up, and has told everybody.
struct GivenUp : Error {
  GivenUp(ErrorCode code, int rank, const std::string& why);
};

class SharedGroup {
 public:
  /// Where this rank stands among others, and what their memory is.
  struct Members {
    int rank = 0;                         ///< this rank within the node
    std::vector<std::byte*> regions;      ///< per rank: shared_region.hpp; zeroed before first use
    std::vector<int> communicator_ranks;  ///< per rank: its rank in the communicator, for messages
    std::size_t slot_bytes = 0;           ///< length of one data slot; a multiple of 64
    bool direct = false;                  ///< true where pointers of one rank are valid in the others (threads)
    std::vector<std::int32_t> processes;  ///< per rank: its PID; empty where ranks cannot reach each other's memory
    std::vector<Window> windows;          ///< per rank: its registered memory; empty where `direct`
    NodeShape shape = {};                 ///< how the node divides its ranks; the same on every rank
  };
  /// `waiter` is asked what to do while a rank waits. `published` (may be empty) is called after each arrival.
  SharedGroup(Members members, Waiter& waiter, std::function<void()> published = {});
  SharedGroup(const SharedGroup&) = delete;
  SharedGroup& operator=(const SharedGroup&) = delete;
  /// Leaves: tells every rank that this one will not look into its region again.
  ~SharedGroup();

  [[nodiscard]] int rank() const noexcept { return members_.rank; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.regions.size()); }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return members_.slot_bytes; }
  /// Writes in the way that was measured to be faster; by streamed stores where nothing was. The same on all ranks.
  void set_pace(const Pace& pace) noexcept;
  /// The last that is known.
  [[nodiscard]] const Pace& pace() const noexcept { return pace_; }
  /// How many `pace` has been told; the same on all ranks in the same call.
  [[nodiscard]] std::uint32_t paces() const noexcept { return paces_; }
  /// True where the ranks may have been moved since the last measurement, as much data has gone by, or a rank writes
  /// too slowly; the same on all ranks in the same call. Never where nothing was measured, or ranks share cores.
  [[nodiscard]] bool is_pace_old() const noexcept { return is_pace_old_in(calls_begun_, call_bytes_, begun_bytes_); }
  /// What `is_pace_old` would say once `call` had begun.
  [[nodiscard]] bool makes_pace_old(const Call& call) const noexcept {
    const std::size_t bytes = bytes_of(call);
    return is_pace_old_in(calls_begun_ + 1, bytes, begun_bytes_ + bytes);
  }
  [[nodiscard]] int communicator_rank(int rank) const noexcept {
    return members_.communicator_ranks[static_cast<std::size_t>(rank)];
  }

  [[nodiscard]] const NodeShape& shape() const noexcept { return members_.shape; }

  /// Begins a call: its signature goes into every arrival, mixed with those of all calls before, as there are calls in
  /// which no rank waits for another; its record is left for reports.
  void begin(const Call& call) noexcept;

  class Opening;
  class Arrival;
  /// Awaited, gives the number of the next round once this rank may write its line and its slot for it.
  [[nodiscard]] Opening open(int slots, Where where = Where::here());
  /// Awaited, goes on when `peer`, or everybody else, has arrived at `round`.
  [[nodiscard]] Arrival arrival(Round round, int peer, Where where = Where::here());
  [[nodiscard]] Arrival arrivals(Round round, Where where = Where::here());
  /// The same for the ranks before this one, which is not the first.
  [[nodiscard]] Arrival arrivals_before(Round round, Where where = Where::here());

  /// A round without data: awaited, goes on when everybody else has come to it.
  [[nodiscard]] Task<> meet();

  // The same for the smallest messages, without a coroutine: they return when it is so.
  [[nodiscard]] Round open_now(int slots) {
    const Round round = ++round_;
    if (const std::optional<Round> needed = needed_for(round, slots)) wait_until_left(*needed);
    return round;
  }
  /// The same where no rank has to be waited for.
  [[nodiscard]] std::optional<Round> try_open(int slots);
  void meet_now();
  /// Waits for one rank after another; to the clock it is one wait.
  class Waits {
   public:
    explicit Waits(SharedGroup& group) noexcept : group_(group) {}
    /// Where it has to wait it fetches `shown`, what it is going to read of `peer`, with each look.
    void for_arrival(Round round, int peer, ConstBytes shown = {}) {
      if (!group_.has_arrived(round, peer)) longer_for(round, peer, shown);
    }
    /// The same of a rank that does not wait for this one. True where it has probably gone on to the next round, whose
    /// line is fetched then, as what it shows may be: it was there already, and the round before was such a one, too.
    [[nodiscard]] bool for_giver(Round round, int peer);

   private:
    void longer_for(Round round, int peer, ConstBytes shown);

    SharedGroup& group_;
    std::optional<Wait> wait_;
  };
  /// `shown(peer)` is what this rank is going to read of `peer`.
  template <class Shown>
  void wait_for_all(Round round, Shown shown) {
    Waits waits(*this);
    for (int peer = 0; peer < size(); ++peer) {
      // Not for itself: its line, just written, is on its way to the others, and to look at it would wait for that.
      if (peer != members_.rank) waits.for_arrival(round, peer, shown(peer));
    }
    known_ = round;
  }
  void wait_for_all(Round round) {
    wait_for_all(round, [](int /*peer*/) { return ConstBytes(); });
  }
  /// For ranks `first` to `end` - 1, which do not wait for this one; `next(peer)` is what this rank is going to read
  /// of `peer` in a next such round.
  template <class Next>
  void wait_for_givers(Round round, int first, int end, Next next) {
    Waits waits(*this);
    for (int peer = first; peer < end; ++peer) {
      if (peer != members_.rank && waits.for_giver(round, peer)) prefetch_for_read(next(peer));
    }
    if (end - first == size()) known_ = round;
  }
  /// Drives `task` until it is done: for what a collective cannot do without a coroutine. Throws what it threw.
  void drive(Task<> task) { waiter_.drive(std::move(task)); }

  /// This rank's payload of `round`, to be written before `arrive`.
  [[nodiscard]] std::byte* payload(Round round) noexcept { return line(members_.rank, round).payload; }
  [[nodiscard]] const std::byte* payload(Round round, int peer) const noexcept { return line(peer, round).payload; }
  /// The data slot of `peer` for `round`: written by `peer` before it arrives, read by others after.
  [[nodiscard]] std::byte* slot(Round round, int peer) const noexcept {
    return members_.regions[static_cast<std::size_t>(peer)] + slots_begin(members_.slot_bytes) +
           round % data_slots * slot_stride(members_.slot_bytes);
  }
  /// The same of `cells`.
  [[nodiscard]] std::byte* cell(const Cells& cells, Round round, int peer) const noexcept {
    return members_.regions[static_cast<std::size_t>(peer)] + cells.begin + place_of(round, cells.count) * cells.stride;
  }
  /// Says that this rank has written so much of its short cell of the round that it arrives at next.
  void note_cell(std::size_t end) noexcept { cell_end_ = std::max(cell_end_, end); }
  /// The payloads and cells of all ranks, and the places `offset` bytes into their slots, in the order of the ranks.
  /// Valid until the next call of any.
  [[nodiscard]] std::span<const std::byte*> payloads(Round round) noexcept {
    for (int peer = 0; peer < size(); ++peer) places_[static_cast<std::size_t>(peer)] = payload(round, peer);
    return places_;
  }
  [[nodiscard]] std::span<const std::byte*> cells(const Cells& cells, Round round) noexcept {
    for (int peer = 0; peer < size(); ++peer) places_[static_cast<std::size_t>(peer)] = cell(cells, round, peer);
    return places_;
  }
  [[nodiscard]] std::span<const std::byte*> slots(Round round, std::size_t offset) noexcept;
  /// Room for `count` such places, to be filled by the caller: at most one for each rank.
  [[nodiscard]] std::span<const std::byte*> places(int count) noexcept {
    return std::span(places_).first(static_cast<std::size_t>(count));
  }
  /// Publishes this rank's payload and slot of `round`.
  void arrive(Round round) {
    line(members_.rank, round).word.store(word_of(round), std::memory_order_release);
    if (round % rounds_taken_back == 0) take_lines_back(round + rounds_taken_back);
    if (cell_end_ > 0) take_cells_back(round);
    tell();
  }
  /// The word of copy_receipt.hpp, which its rank alone writes.
  [[nodiscard]] std::atomic<std::uint64_t>& receipt_of(int rank) const noexcept { return page(rank).receipt; }
  /// Wakes who sleeps until this rank has come, or has given a receipt.
  void tell() { announces_ ? announce() : page(members_.rank).bell.ring(); }

  /// Says that everybody has arrived at `round`, as this rank knows from others who had waited for others.
  void know_arrivals(Round round) noexcept { known_ = std::max(known_, round); }

  /// Notes that this rank reads so much of what `peer` has written: for those who count what crosses the machine.
  void count_read(int peer, std::size_t bytes) noexcept { bytes_read_[static_cast<std::size_t>(peer)] += bytes; }
  /// What it has noted, by rank.
  [[nodiscard]] std::span<const std::uint64_t> bytes_read() const noexcept { return bytes_read_; }

  /// Copies `bytes` from `data` to `place` in a slot or a cell of this rank, in the faster way.
  void put(std::byte* place, const std::byte* data, std::size_t bytes) {
    if (bytes < machine::streaming_from) return kernels::copy(place, data, bytes, kernels::Store::cached);
    const bool doubtful = way_ == kernels::Store::cached && pace_.known();
    if (doubtful && ++puts_ % puts_to_time == 0) return put_timed(place, data, bytes);
    kernels::copy(place, data, bytes, way_);
  }

  /// Where this rank finds the `bytes` at `there`, an address of `peer`'s; null unless they are registered memory
  /// (chorus/memory.hpp), which all ranks find, or none.
  [[nodiscard]] const std::byte* find(int peer, const std::byte* there, std::size_t bytes) const noexcept;
  /// True where `read` and `write` work for all memory: the same on all ranks.
  [[nodiscard]] bool reads() const noexcept { return members_.direct || !members_.processes.empty(); }
  /// Copies `bytes` at `there`, an address of `peer`'s, to `out`: a single copy, without the system's help where `find`
  /// finds them. False where the system refuses it.
  [[nodiscard]] bool read(int peer, std::byte* out, const std::byte* there, std::size_t bytes) const noexcept;
  /// Copies `data` to `there`, an address of `peer`'s, which waits for it in this call. False where the system
  /// refuses it, or `peer` has ended the call before its time.
  [[nodiscard]] bool write(int peer, std::byte* there, ConstBytes data) const noexcept;
  /// This rank ends a call before its time, and with it maybe its buffers: returns when nobody writes into them any
  /// more, nor reads them where ranks are threads.
  void close() noexcept;

  // For reports and failures; any time, any rank.

  /// The record of the last calls of `rank`: the one with `number`, or its latest for number 0.
  struct Recorded {
    std::uint64_t number = 0;
    Call call;
  };
  [[nodiscard]] std::optional<Recorded> recorded(int rank, std::uint64_t number = 0) const noexcept;
  [[nodiscard]] std::uint64_t calls_begun() const noexcept { return calls_begun_; }
  /// This rank puts a call into a stream, for which no round is opened.
  void begin_in_stream() noexcept { page(rank()).stream_calls.fetch_add(1, std::memory_order_release); }
  [[nodiscard]] std::uint64_t stream_calls(int rank) const noexcept {
    return page(rank).stream_calls.load(std::memory_order_acquire);
  }
  /// True where `peer` has not begun the call that this rank is in, or not as many in streams.
  [[nodiscard]] bool is_behind(int peer) const noexcept;
  /// Tells the node that this rank has given the communicator up and wakes the sleepers. An empty text stands for
  /// MismatchFound.
  void publish_failure(int code, const std::string& text) noexcept;
  struct Failure {
    int rank = 0;  ///< within the node
    int code = 0;
    std::string text;
  };
  /// That of the rank that gave up in the earliest call, as the others' may follow from it. A rank that gave up in a
  /// later call than this one's does not count where it has done its part of this call: it has made the same ones.
  [[nodiscard]] std::optional<Failure> failure_of_others() const;
  /// That of `rank`, in whatever call.
  [[nodiscard]] std::optional<Failure> failure_of(int rank) const;
  /// Says that this rank makes no more calls.
  void end_calls() noexcept { page(members_.rank).calls_ended.store(true, std::memory_order_release); }
  /// A rank that has ended its calls before the one that this rank is in.
  [[nodiscard]] std::optional<int> missing_for_ever() const noexcept;
  /// To be called when this rank has read another's own memory, and nothing else tells whether it was whole: throws the
  /// failure of others, whose programs may have changed it by then.
  void check_others() const;
  [[nodiscard]] Bell* bell_of(int rank) const noexcept { return &page(rank).bell; }

 private:
  [[nodiscard]] ControlPage& page(int rank) const noexcept {
    return *std::launder(reinterpret_cast<ControlPage*>(members_.regions[static_cast<std::size_t>(rank)]));
  }
  [[nodiscard]] Line& line(int rank, Round round) const noexcept {
    return page(rank).lines[place_of(round, line_slots)].line;
  }
  /// Copies `bytes` from or to memory of `peer`'s own, as long as it is not closed: `copy(begin, length)` for each
  /// part; false where one is.
  template <class Copy>
  [[nodiscard]] bool touch(int peer, std::size_t bytes, Copy copy) const noexcept;
  /// True where `peer` has made other calls than this rank under the same numbers.
  [[nodiscard]] bool has_made_others(int peer) const noexcept;
  // Lets this rank's processor have what is written in later rounds to itself, which others had read: stores wait for
  // one another, but lines come several at a time.
  void take_lines_back(Round first) const noexcept;
  void take_cells_back(Round round) noexcept;
  [[nodiscard]] std::uint64_t word_of(Round round) const noexcept { return round << 40U | signature_; }
  [[nodiscard]] bool has_arrived(Round round, int peer) const {
    const std::uint64_t word = line(peer, round).word.load(std::memory_order_acquire);
    if (word == word_of(round)) return true;
    return differs(word, round);
  }
  [[nodiscard]] bool differs(std::uint64_t word, Round round) const;
  /// The round everybody must have reached before this rank may open `round`, where that is not known to be so.
  [[nodiscard]] std::optional<Round> needed_for(Round round, int slots) const noexcept {
    const auto depth = static_cast<Round>(slots);
    if (known_ + depth > round) return std::nullopt;
    return round - depth / 2;  // more than needed, so that the next rounds need not ask again
  }
  void wait_until_left(Round needed);
  [[nodiscard]] bool has_reached(Round round, int peer) const noexcept;
  void announce();
  /// What is known of it to all ranks alike: where no rank knows the lengths of others, the least that may be timed.
  [[nodiscard]] static std::size_t bytes_of(const Call& call) noexcept {
    return call.count == 0 && counts_differ(call.collective) ? machine::streaming_from : call.bytes();
  }
  void put_timed(std::byte* place, const std::byte* data, std::size_t bytes);
  [[nodiscard]] bool is_pace_doubted(std::uint64_t call) const noexcept;
  /// In the call of that number, which is so long; with it so much has been begun.
  [[nodiscard]] bool is_pace_old_in(std::uint64_t call, std::size_t bytes, std::size_t begun) const noexcept {
    return begun >= pace_lasts_to_ || (bytes >= machine::streaming_from && is_pace_doubted(call));
  }

  static constexpr std::uint32_t puts_to_time = 8;  // of so many one is timed: the clock costs next to nothing

  Members members_;
  Waiter& waiter_;
  std::function<void()> published_;
  int process_;  // a child that it forks shares the memory, but is no rank
  bool announces_;
  std::uint64_t signature_ = 0;  // of all calls so far, 40 bits
  std::uint64_t calls_begun_ = 0;
  Round round_ = 0;  // the last one opened
  kernels::Store way_ = kernels::Store::streamed;
  Pace pace_;
  std::uint32_t paces_ = 0;
  std::uint32_t puts_ = 0;  // by plain stores, of those that could be streamed
  int slow_puts_ = 0;       // one after another
  std::uint64_t pace_call_ = 0;
  std::size_t call_bytes_ = 0;
  std::size_t begun_bytes_ = 0;  // of all calls
  std::size_t pace_lasts_to_ = std::numeric_limits<std::size_t>::max();
  std::size_t cell_end_ = 0;  // of the cell that was written for the next arrival
  Round cells_taken_to_ = 0;  // before this round they were
  Round given_in_ = 0;        // the last round in which this rank has waited for givers
  Round given_since_ = 0;     // the first of the rounds up to that one in all of which it did
  Round known_ = 0;           // everybody has arrived at this round, so has left all before it
  std::vector<const std::byte*> places_;
  std::vector<std::uint64_t> bytes_read_;
};

inline void SharedGroup::begin(const Call& call) noexcept {
  const PackedCall words = packed(call);
  signature_ = (signature_ * 0x9E3779B97F4A7C15U + signature(words)) << 24U >> 24U;
  ++calls_begun_;
  call_bytes_ = bytes_of(call);
  begun_bytes_ += call_bytes_;
  CallRecord& record = page(rank()).calls[calls_begun_ % call_records];
  record.number.store(0, std::memory_order_relaxed);
  // Each of these after the 0: who reads one of them and then the old number again would mix two calls.
  record.kind.store(words.kind, std::memory_order_release);
  record.count.store(words.count, std::memory_order_release);
  record.numbers.store(words.numbers, std::memory_order_release);
  record.number.store(calls_begun_, std::memory_order_release);
}

/// Waits until the next round may be opened.
class SharedGroup::Opening final : public PolledEvent {
 public:
  Opening(SharedGroup& group, int slots, Where where) noexcept;
  [[nodiscard]] Round await_resume();
  [[nodiscard]] Bell* bell() noexcept override { return group_.bell_of(peer_); }

 private:
  bool ready() override;
  [[nodiscard]] std::string what() const override;

  SharedGroup& group_;
  std::optional<Round> needed_;
  int peer_ = 0;
};

/// Waits until peers `peer_` to `last_` have arrived at a round.
class SharedGroup::Arrival final : public PolledEvent {
 public:
  Arrival(SharedGroup& group, Round round, int first, int last, Where where) noexcept
      : PolledEvent(where),
        group_(group),
        round_(round),
        peer_(first),
        last_(last),
        everybody_(first == 0 && last == group.size() - 1) {}
  [[nodiscard]] Bell* bell() noexcept override { return group_.bell_of(peer_); }

 private:
  bool ready() override;
  [[nodiscard]] std::string what() const override;

  SharedGroup& group_;
  Round round_;
  int peer_;
  int last_;
  bool everybody_;
};

}  // namespace chorus
