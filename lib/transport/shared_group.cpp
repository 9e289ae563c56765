// SPDX-License-Identifier: Apache-2.0
#include "transport/shared_group.hpp"

#include "base/cache_lines.hpp"
#include "base/machine.hpp"
#include "transport/failure_text.hpp"
#include "transport/process_copy.hpp"

#include <chorus/memory.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace chorus {
namespace {

constexpr int slow_puts_to_doubt = 3;             // one may have been interrupted
constexpr std::chrono::seconds longest_touch(1);  // of a process that is stopped: it looks again before it goes on
constexpr std::size_t touched_at_once = std::size_t{1} << 20U;
constexpr std::chrono::microseconds moment(50);

/// How far the round in `word` lies past `round`, modulo 2^24; ranks are never nearly as far apart.
std::int32_t rounds_past(std::uint64_t word, Round round) noexcept {
  const auto upper = static_cast<std::uint32_t>(word >> 40U) << 8U;
  return static_cast<std::int32_t>(upper - (static_cast<std::uint32_t>(round) << 8U)) >> 8;
}

/// None while its rank writes it, or where it has not been written.
std::optional<SharedGroup::Recorded> contents_of(const CallRecord& record) noexcept {
  SharedGroup::Recorded read{.number = record.number.load(std::memory_order_acquire), .call = {}};
  read.call = unpacked({.kind = record.kind.load(std::memory_order_acquire),
                        .count = record.count.load(std::memory_order_acquire),
                        .numbers = record.numbers.load(std::memory_order_acquire)});
  if (read.number == 0 || record.number.load(std::memory_order_acquire) != read.number) return std::nullopt;
  return read;
}

}  // namespace

GivenUp::GivenUp(ErrorCode code, int rank, const std::string& why)
    : Error(code, fmt::format("rank {} {}: {}", rank,
                              code == ErrorCode::revoked ? "revoked the communicator" : "gave up", why)) {}

SharedGroup::SharedGroup(Members members, Waiter& waiter, std::function<void()> published)
    : members_(std::move(members)),
      waiter_(waiter),
      published_(std::move(published)),
      process_(getpid()),
      announces_(published_ || waiter.policy().oversubscribed()),
      places_(members_.regions.size()),
      bytes_read_(members_.regions.size()) {}

const std::byte* SharedGroup::find(int peer, const std::byte* there, std::size_t bytes) const noexcept {
  if (members_.direct) return is_registered(there, bytes) ? there : nullptr;
  if (members_.windows.empty()) return nullptr;
  const Window& window = members_.windows[static_cast<std::size_t>(peer)];
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(there) - window.there;
  const bool inside = offset < window.bytes && bytes <= window.bytes - offset;
  return inside ? window.here + offset : nullptr;
}

template <class Copy>
bool SharedGroup::touch(int peer, std::size_t bytes, Copy copy) const noexcept {
  std::atomic<std::uint32_t>& touches = page(rank()).touches;
  // Both sides say what they do before they look at the other's: one of them sees the other.
  touches.store(static_cast<std::uint32_t>(peer) + 1, std::memory_order_seq_cst);
  bool copied = true;
  for (std::size_t done = 0; done < bytes && copied; done += touched_at_once) {
    copied = !page(peer).closed.load(std::memory_order_seq_cst) && copy(done, std::min(touched_at_once, bytes - done));
  }
  touches.store(0, std::memory_order_release);
  return copied;
}

bool SharedGroup::read(int peer, std::byte* out, const std::byte* there, std::size_t bytes) const noexcept {
  if (members_.direct) {
    return touch(peer, bytes, [&](std::size_t begin, std::size_t length) {
      kernels::copy(out + begin, there + begin, length, kernels::Store::cached);
      return true;
    });
  }
  // To read what another process has changed since does no harm, and what it no longer has the system finds out.
  const std::byte* const here = find(peer, there, bytes);
  if (here == nullptr) return read_process(members_.processes[static_cast<std::size_t>(peer)], out, there, bytes);
  kernels::copy(out, here, bytes, kernels::Store::cached);
  return true;
}

bool SharedGroup::write(int peer, std::byte* there, ConstBytes data) const noexcept {
  const std::byte* const found = members_.direct ? there : find(peer, there, data.size());
  return touch(peer, data.size(), [&](std::size_t begin, std::size_t length) {
    const ConstBytes part = data.subspan(begin, length);
    if (found == nullptr) return write_process(members_.processes[static_cast<std::size_t>(peer)], there + begin, part);
    kernels::copy(const_cast<std::byte*>(found) + begin, part.data(), length, kernels::Store::cached);
    return true;
  });
}

void SharedGroup::close() noexcept {
  page(rank()).closed.store(true, std::memory_order_seq_cst);
  const auto until = Wait::Clock::now() + longest_touch;
  for (int peer = 0; peer < size(); ++peer) {
    const std::atomic<std::uint32_t>& touches = page(peer).touches;
    while (touches.load(std::memory_order_seq_cst) == static_cast<std::uint32_t>(rank()) + 1) {
      const bool ended = !members_.direct && has_ended(members_.processes[static_cast<std::size_t>(peer)]);
      if (ended || Wait::Clock::now() > until) break;
      std::this_thread::sleep_for(moment);
    }
  }
}

SharedGroup::~SharedGroup() {
  if (process_ != getpid()) return;
  for (int peer = 0; peer < size(); ++peer) page(peer).left.fetch_add(1, std::memory_order_acq_rel);
}

void SharedGroup::set_pace(const Pace& pace) noexcept {
  if (!pace.known()) {
    if (!pace_.known()) {
      pace_ = pace;
      way_ = pace.way();
    }
    if (!is_pace_old()) return;
  }
  pace_lasts_to_ = begun_bytes_ + machine::pace_lasts;
  pace_call_ = calls_begun_;
  slow_puts_ = 0;
  if (!pace.known()) return;
  pace_ = pace;
  ++paces_;
  way_ = pace.way();
}

/// Plain stores that take longer than streamed ones and who reads these together: the ranks were moved apart. All ranks
/// hear of it before they come to the call that is named: every call has a round, and who has opened one has seen this
/// rank arrive at that `line_slots` - 1 before it.
void SharedGroup::put_timed(std::byte* place, const std::byte* data, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  kernels::copy(place, data, bytes, way_);
  const std::chrono::duration<double, std::nano> took = Clock::now() - began;
  const double streamed_ns = 2e3 * static_cast<double>(bytes) / pace_.streamed;  // megabytes a second
  slow_puts_ = took.count() > streamed_ns ? slow_puts_ + 1 : 0;
  std::atomic<std::uint64_t>& ends = page(rank()).pace_ends;
  if (slow_puts_ < slow_puts_to_doubt || ends.load(std::memory_order_relaxed) > pace_call_) return;
  const std::uint64_t heard_by = calls_begun_ + line_slots + 1;
  ends.store(heard_by, std::memory_order_release);
}

bool SharedGroup::is_pace_doubted(std::uint64_t call) const noexcept {
  for (int peer = 0; peer < size(); ++peer) {
    const std::uint64_t ends = page(peer).pace_ends.load(std::memory_order_acquire);
    if (ends > pace_call_ && ends <= call) return true;
  }
  return false;
}

void SharedGroup::take_lines_back(Round first) const noexcept {
  for (Round round = first; round < first + rounds_taken_back; ++round) {
    take_lines(chorus::bytes_of(line(members_.rank, round)));
  }
}

void SharedGroup::take_cells_back(Round round) noexcept {
  const std::size_t end = std::exchange(cell_end_, 0);
  if (round + rounds_taken_back < cells_taken_to_) return;
  const Round first = std::max(round + rounds_taken_back, cells_taken_to_);
  cells_taken_to_ = round + 2 * rounds_taken_back;
  for (Round later = first; later < cells_taken_to_; ++later) {
    take_lines({cell(short_cells, later, members_.rank), end});
  }
}

bool SharedGroup::differs(std::uint64_t word, Round round) const {
  if (rounds_past(word, round) < 0) return false;
  throw MismatchFound();
}

bool SharedGroup::has_reached(Round round, int peer) const noexcept {
  return rounds_past(line(peer, round).word.load(std::memory_order_acquire), round) >= 0;
}

void SharedGroup::announce() {
  Bell& bell = page(rank()).bell;
  // Read, modified and written, so that a sleeper counts itself before, and is seen, or after, and sees the arrival.
  if (bell.sleepers.fetch_add(0, std::memory_order_seq_cst) != 0) bell.wake();
  if (published_) published_();
}

std::optional<Round> SharedGroup::try_open(int slots) {
  if (const std::optional<Round> needed = needed_for(round_ + 1, slots)) {
    for (int peer = 0; peer < size(); ++peer) {
      if (!has_reached(*needed, peer)) return std::nullopt;
    }
    known_ = *needed;
  }
  return ++round_;
}

void SharedGroup::wait_until_left(Round needed) {
  Wait wait(waiter_);
  for (int peer = 0; peer < size(); ++peer) {
    if (has_reached(needed, peer)) continue;
    wait.moved();
    while (!has_reached(needed, peer)) wait.pause(bell_of(peer));
  }
  known_ = needed;
}

void SharedGroup::Waits::longer_for(Round round, int peer, ConstBytes shown) {
  if (wait_) {
    wait_->moved();
  } else {
    wait_.emplace(group_.waiter_);
  }
  do {
    wait_->pause(group_.bell_of(peer));
    prefetch_for_read(shown);
  } while (!group_.has_arrived(round, peer));
}

bool SharedGroup::Waits::for_giver(Round round, int peer) {
  if (group_.given_in_ + 1 < round) group_.given_since_ = round;
  group_.given_in_ = round;
  if (!group_.has_arrived(round, peer)) {
    longer_for(round, peer, {});
    return false;
  }
  if (group_.given_since_ == round) return false;
  prefetch_for_read(chorus::bytes_of(group_.line(peer, round + 1)));
  return true;
}

std::span<const std::byte*> SharedGroup::slots(Round round, std::size_t offset) noexcept {
  for (int peer = 0; peer < size(); ++peer) places_[static_cast<std::size_t>(peer)] = slot(round, peer) + offset;
  return places_;
}

void SharedGroup::meet_now() {
  const Round round = open_now(line_slots);
  arrive(round);
  wait_for_all(round);
}

SharedGroup::Opening SharedGroup::open(int slots, Where where) { return {*this, slots, where}; }

SharedGroup::Arrival SharedGroup::arrival(Round round, int peer, Where where) {
  return {*this, round, peer, peer, where};
}

SharedGroup::Arrival SharedGroup::arrivals(Round round, Where where) { return {*this, round, 0, size() - 1, where}; }

SharedGroup::Arrival SharedGroup::arrivals_before(Round round, Where where) {
  return {*this, round, 0, rank() - 1, where};
}

SharedGroup::Opening::Opening(SharedGroup& group, int slots, Where where) noexcept
    : PolledEvent(where), group_(group), needed_(group.needed_for(++group.round_, slots)) {}

bool SharedGroup::Opening::ready() {
  if (!needed_) return true;
  while (group_.has_reached(*needed_, peer_)) {
    if (peer_ == group_.size() - 1) {
      group_.known_ = std::max(group_.known_, *needed_);
      return true;
    }
    ++peer_;
  }
  return false;
}

Task<> SharedGroup::meet() {
  const Round round = co_await open(line_slots);
  arrive(round);
  co_await arrivals(round);
}

Round SharedGroup::Opening::await_resume() {
  PolledEvent::await_resume();
  return group_.round_;
}

std::string SharedGroup::Opening::what() const {
  return fmt::format("waiting until rank {} has left an earlier round", group_.communicator_rank(peer_));
}

bool SharedGroup::Arrival::ready() {
  while (peer_ == group_.rank() || group_.has_arrived(round_, peer_)) {
    if (peer_ == last_) {
      if (everybody_) group_.known_ = std::max(group_.known_, round_);
      return true;
    }
    ++peer_;
  }
  return false;
}

std::string SharedGroup::Arrival::what() const {
  return fmt::format("waiting for the arrival of rank {} at round {}", group_.communicator_rank(peer_), round_);
}

std::optional<SharedGroup::Recorded> SharedGroup::recorded(int rank, std::uint64_t number) const noexcept {
  const std::array<CallRecord, call_records>& records = page(rank).calls;
  if (number != 0) {
    const std::optional<Recorded> found = contents_of(records[number % call_records]);
    return found && found->number == number ? found : std::nullopt;
  }
  std::optional<Recorded> latest;
  for (const CallRecord& record : records) {
    const std::optional<Recorded> found = contents_of(record);
    if (found && (!latest || latest->number < found->number)) latest = found;
  }
  return latest;
}

void SharedGroup::publish_failure(int code, const std::string& text) noexcept {
  ControlPage& mine = page(rank());
  if (mine.failure.load(std::memory_order_relaxed) != 0) return;
  put_text(mine.failure_text, text);
  mine.failure.store(static_cast<std::uint32_t>(code) + 1, std::memory_order_seq_cst);
  for (int peer = 0; peer < size(); ++peer) bell_of(peer)->wake();
  if (published_) published_();
}

std::optional<SharedGroup::Failure> SharedGroup::failure_of_others() const {
  std::optional<Failure> earliest;
  std::uint64_t earliest_call = 0;
  for (int peer = 0; peer < size(); ++peer) {
    std::optional<Failure> failure = peer != rank() ? failure_of(peer) : std::nullopt;
    if (!failure) continue;
    const std::optional<Recorded> last = recorded(peer);
    const std::uint64_t call = last ? last->number : 0;
    if (call > calls_begun_ && !has_made_others(peer)) continue;
    if (earliest && earliest_call <= call) continue;
    earliest_call = call;
    earliest = std::move(failure);
  }
  return earliest;
}

bool SharedGroup::has_made_others(int peer) const noexcept {
  const std::uint64_t first = calls_begun_ > call_records ? calls_begun_ - call_records + 1 : 1;
  for (std::uint64_t number = calls_begun_; number >= first; --number) {
    const std::optional<Recorded> theirs = recorded(peer, number), own = recorded(rank(), number);
    if (theirs && own && theirs->call != own->call) return true;
  }
  return false;
}

std::optional<SharedGroup::Failure> SharedGroup::failure_of(int rank) const {
  const std::uint32_t failure = page(rank).failure.load(std::memory_order_acquire);
  if (failure == 0) return std::nullopt;
  const auto& text = page(rank).failure_text;
  return Failure{rank, static_cast<int>(failure) - 1, std::string(text.data(), strnlen(text.data(), text.size()))};
}

bool SharedGroup::is_behind(int peer) const noexcept {
  const std::optional<Recorded> last = recorded(peer);
  const std::uint64_t begun = last ? last->number : 0;
  return begun < calls_begun_ || stream_calls(peer) < stream_calls(rank());
}

std::optional<int> SharedGroup::missing_for_ever() const noexcept {
  for (int peer = 0; peer < size(); ++peer) {
    if (page(peer).calls_ended.load(std::memory_order_acquire) && is_behind(peer)) return peer;
  }
  return std::nullopt;
}

void SharedGroup::check_others() const {
  std::atomic_thread_fence(std::memory_order_acquire);  // who fails says so before its memory may change
  const std::optional<Failure> failure = failure_of_others();
  if (!failure) return;
  if (failure->text.empty()) throw MismatchFound();
  throw GivenUp(static_cast<ErrorCode>(failure->code), communicator_rank(failure->rank), failure->text);
}

}  // namespace chorus
