// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/replica_group.hpp>

#include "call_shapes.hpp"
#include "replica_places.hpp"
#include "replica_threads.hpp"
#include "run_record.hpp"

#include <chorus/allgather.hpp>
#include <chorus/barrier.hpp>
#include <chorus/detail/fnv1a.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/detail/text_of.hpp>
#include <chorus/thread_communicators.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

namespace chorus {
namespace {

/// A replica at a meeting.
struct Visit {
  const char* what;
  CallSite where;
  const void* brought;
  std::uint32_t call;  ///< StrategyCall::kind where it is a part of one
  ReplicaGroup::Use use;
  std::uint64_t arguments;  ///< their hash

  [[nodiscard]] bool same_line(const Visit& other) const {
    return where.line == other.where.line && std::string_view(where.file) == other.where.file;
  }
  [[nodiscard]] bool same_place(const Visit& other) const {
    return std::string_view(what) == other.what && same_line(other) && where.column == other.where.column &&
           call == other.call;
  }
  /// To be told from `other`.
  [[nodiscard]] std::string place(const Visit& other) const {
    if (call != 0) return StrategyCall::text_of_kind(call);
    if (where.line == 0) return *where.file == '\0' ? what : where.file;
    const std::string column = same_line(other) ? fmt::format(":{}", where.column) : std::string();
    return fmt::format("{} at {}:{}{}", what, where.file, where.line, column);
  }
};

bool same(const std::type_info* left, const std::type_info* right) noexcept {
  return left == right || (left != nullptr && right != nullptr && *left == *right);
}

std::uint64_t hash_of(const std::string& text) {
  detail::Fnv1a hash;
  hash.add(text);
  return hash.value();
}

/// Throws unless every worker has as many replicas as this one, and could start them: `failure` is why this one could
/// not.
void check_started(const Communicator& workers, int replicas, const std::optional<Error>& failure,
                   std::chrono::nanoseconds timeout) {
  const int started = failure ? 0 : replicas;
  std::vector<int> numbers(static_cast<std::size_t>(workers.size()));
  allgather(workers, std::span(&started, 1), numbers, {.timeout = timeout});
  if (failure) throw Error(*failure);
  if (const auto without = std::ranges::find(numbers, 0); without != numbers.end()) {
    throw Error(
        ErrorCode::transport,
        fmt::format("strategy: worker {} could not start its replicas' threads, and says why; no worker has the "
                    "strategy",
                    without - numbers.begin()));
  }
  const auto other = std::ranges::find_if(numbers, [&](int number) { return number != numbers.front(); });
  if (other == numbers.end()) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("strategy: the numbers of devices differ: {} on worker 0, {} on worker {}: give every worker as "
                  "many",
                  numbers.front(), *other, other - numbers.begin()));
}

/// In `readers`: a replica has failed in a meeting of this run.
constexpr std::uint32_t failed_in_meeting = std::uint32_t{1} << 31U;

}  // namespace

struct ReplicaGroup::State {
  State(std::vector<Device> chosen, const std::optional<Communicator>& workers, std::chrono::nanoseconds start)
      : devices(std::move(chosen)),
        all_workers(workers),
        start_timeout(start),
        places(devices.size()),
        unsent(devices.size()),
        threads(devices) {}

  [[nodiscard]] bool alone() const noexcept { return devices.size() == 1; }
  [[nodiscard]] bool single() const noexcept { return alone() && !all_workers; }  // threads may share it
  /// Makes the communicators of the workers, and has each called once: until then nobody notices who is lost. Last the
  /// one that neither the next call nor the call after it takes: a worker that fails in the next one gives both up,
  /// while others may still be here.
  void connect_workers() {
    turn = 0;
    record = {};
    for (std::size_t ahead = 1; ahead <= between_workers.size(); ++ahead) {
      std::optional<Communicator>& each = between_workers[ahead % between_workers.size()];
      each = all_workers->dup();
      barrier(*each, {.timeout = start_timeout});
    }
    native_known.fill(false);
  }
  /// Replaces the communicators that an earlier run or collective has broken. All workers come here after such.
  void renew() {
    if (failed && !alone()) local = detail::replica_communicators(layout.local_replicas);
    if (all_workers && (failed || given_up)) {
      if (start_timeout.count() > 0) barrier(*all_workers, {.timeout = start_timeout});  // making them has no limit
      connect_workers();
    }
    places.reset();
    std::ranges::fill(unsent, nullptr);
    readers = 0;
    given_up = false;
    thrown_alike = nullptr;
    failed = nullptr;  // only now: where a worker is lost, the next run says so, too
  }
  /// The first failure of a run: it is what the run throws.
  void fail(const std::string& whose) {
    if (failed) return;
    failed = std::current_exception();
    why = fmt::format("{} threw: {}", whose, detail::text_of(failed));
  }
  void take_turn() {
    renew();
    turn = (turn + 1) % between_workers.size();
  }
  /// Tells the other workers that this one has failed: those in the call under way, or those who have left it.
  void tell_workers(std::size_t calls_ahead, const std::string& what) const {
    try {
      between_workers[(turn + calls_ahead) % between_workers.size()]->revoke(
          fmt::format("worker {}{}", layout.worker, what));
    } catch (const Error&) {  // MPI is finalised: there is nobody to tell
    }
  }
  /// A replica is about to leave a meeting by an exception: what it has brought must not be looked at any longer.
  void leave_meeting() {
    std::uint32_t now = readers.fetch_or(failed_in_meeting, std::memory_order_acq_rel) | failed_in_meeting;
    while (now != failed_in_meeting) {
      readers.wait(now, std::memory_order_acquire);
      now = readers.load(std::memory_order_acquire);
    }
  }

  std::vector<Device> devices;
  std::optional<Communicator> all_workers;  // whole as long as the processes live: only to make others from
  // Each run and each call outside of runs takes the next one. Who fails gives up that of its call and the one after
  // it, so that those who have left the call are told, too, but none who are still at the end of the call before.
  std::array<std::optional<Communicator>, 3> between_workers;
  std::array<bool, 3> native_known{};  // of each of them
  detail::RunRecord record;            // changed by the first replica alone
  std::chrono::nanoseconds start_timeout;
  std::size_t turn = 0;
  int exceptions = std::uncaught_exceptions();  // when the group was made
  bool given_up = false;                        // outside of a run
  ReplicaLayout layout;
  bool shares_memory = true;
  std::vector<Communicator> local;  // as each replica has it
  std::atomic<bool> running{false};
  std::chrono::nanoseconds timeout{};  // of the run
  ReplicaPlaces places;
  std::vector<Unsent*> unsent;            // of each local replica, touched by its thread alone; null: nothing
  std::atomic<std::uint32_t> readers{0};  // how many Readings live, and failed_in_meeting
  std::mutex mutex;                       // for what follows
  std::exception_ptr failed;
  std::exception_ptr thrown_alike;  // on every worker, each of which finds it by itself
  std::string why;                  // the others are told
  ReplicaThreads threads;
};

ReplicaGroup::ReplicaGroup(std::vector<Device> devices, const std::optional<Communicator>& workers,
                           std::chrono::nanoseconds timeout) {
  if (devices.empty()) {
    throw Error(ErrorCode::invalid_argument, "strategy: there is no device: name one, or leave the choice to chorus");
  }
  const int replicas = static_cast<int>(devices.size());
  const bool has_others = workers && workers->size() > 1;
  std::optional<Error> failure;
  try {
    state_ = std::make_unique<State>(std::move(devices), workers, timeout);
  } catch (const Error& error) {  // the system starts no more threads
    if (!has_others) throw;
    failure = error;
  }
  if (has_others) check_started(*workers, replicas, failure, timeout);
  state_->layout.local_replicas = replicas;
  if (has_others) {
    state_->layout.workers = workers->size();
    state_->layout.worker = workers->rank();
    state_->shares_memory = workers->shares_memory();
    state_->connect_workers();
  } else {
    state_->all_workers.reset();
  }
  if (!state_->alone()) state_->local = detail::replica_communicators(state_->layout.local_replicas);
}

ReplicaGroup::~ReplicaGroup() {
  if (!state_->all_workers || std::uncaught_exceptions() <= state_->exceptions) return;
  const std::string why = ": an exception has left the scope of its strategy";  // which nobody can read yet
  for (const std::size_t calls_ahead : {0U, 1U}) state_->tell_workers(calls_ahead, why);
}

const ReplicaLayout& ReplicaGroup::layout() const noexcept { return state_->layout; }

bool ReplicaGroup::shares_memory() const noexcept { return state_->shares_memory; }

const Communicator& ReplicaGroup::local(int local_replica) const {
  return state_->local.at(static_cast<std::size_t>(local_replica));
}

const Communicator* ReplicaGroup::workers() const {
  if (state_->single()) return nullptr;
  if (!state_->running) state_->renew();
  const std::optional<Communicator>& now = state_->between_workers[state_->turn];
  return now ? &*now : nullptr;
}

void ReplicaGroup::find_native(std::chrono::nanoseconds timeout) const {
  bool& known = state_->native_known[state_->turn];
  if (!known) barrier(*workers(), {.algorithm = "native", .timeout = timeout});
  known = true;
}

void ReplicaGroup::run(const std::function<void(int)>& body, const std::function<std::uint64_t()>& structure,
                       std::chrono::nanoseconds timeout) {
  if (state_->running.exchange(true)) {
    throw Error(ErrorCode::invalid_argument,
                "Strategy::run: another thread is in a run of this strategy: make one call at a time");
  }
  struct Ended {
    std::atomic<bool>& running;
    ~Ended() { running = false; }
  } ended{state_->running};

  state_->take_turn();
  state_->timeout = timeout;
  state_->threads.run([&](int replica) { end(body, replica); });
  end_with_workers(structure);
  if (state_->failed) std::rethrow_exception(state_->failed);
}

void ReplicaGroup::end(const std::function<void(int)>& body, int local_replica) {
  try {
    body(local_replica);
    if (!state_->alone()) meet(local_replica, {ReplicaPlaces::end_of_run});
  } catch (...) {
    const std::scoped_lock lock(state_->mutex);
    state_->fail(fmt::format("replica {}", state_->layout.first_replica() + local_replica));
    if (!state_->alone()) local(local_replica).revoke(state_->why);
  }
}

void ReplicaGroup::end_with_workers(const std::function<std::uint64_t()>& structure) {
  detail::RunRecord mine = state_->record;
  state_->record.count = 0;
  try {
    if (structure && !state_->failed) mine.structure = structure();
  } catch (...) {
    state_->fail(fmt::format("worker {}", state_->layout.worker));
  }
  if (workers() == nullptr) return;
  workers()->set_purpose(StrategyCall{.function = StrategyFunction::end_run}.purpose());
  try {
    if (state_->failed && state_->failed == state_->thrown_alike) return;
    if (state_->failed) {
      state_->tell_workers(0, fmt::format(": {}", state_->why));
    } else {
      detail::check_alike(*workers(), mine, state_->timeout);
    }
  } catch (...) {  // all who are still here are told by the collective
    state_->fail("the end of the run");
    state_->tell_workers(1, fmt::format(": {}", state_->why));
  }
}

void ReplicaGroup::take_turn() {
  if (!state_->running && !state_->single()) state_->take_turn();
}

void ReplicaGroup::note_thrown_alike() const {
  const std::scoped_lock lock(state_->mutex);
  state_->thrown_alike = std::current_exception();
}

void ReplicaGroup::give_up() {
  if (state_->running || !state_->all_workers || std::current_exception() == state_->thrown_alike) return;
  state_->given_up = true;
  const std::string why = fmt::format(" threw: {}", detail::text_of(std::current_exception()));
  for (const std::size_t calls_ahead : {0U, 1U}) state_->tell_workers(calls_ahead, why);
}

void ReplicaGroup::announce(const StrategyCall& call) const {
  const Communicator* const all = workers();
  if (all == nullptr) return;
  all->set_purpose(call.purpose());
  state_->record.add(call);
}

void ReplicaGroup::come_to(int local_replica, const StrategyCall& call) const {
  const CallPurpose purpose = call.purpose();
  state_->places.stand(local_replica, call.name(), call.kind(), detail::checksum_in(purpose.number));
  send_next(local_replica, nullptr);
  if (!state_->alone()) local(local_replica).set_purpose(purpose);
  if (local_replica == 0) announce(call);
}

void ReplicaGroup::send_next(int local_replica, Unsent* next) const {
  Unsent* const before = std::exchange(state_->unsent[static_cast<std::size_t>(local_replica)], next);
  if (before != nullptr && before != next) collectively([&] { before->send(); });
}

void ReplicaGroup::forget(int local_replica, const Unsent& ended) const noexcept {
  Unsent*& unsent = state_->unsent[static_cast<std::size_t>(local_replica)];
  if (unsent == &ended) unsent = nullptr;
}

void ReplicaGroup::reject_different_places() const { state_->places.reject_different(state_->layout); }

void ReplicaGroup::reject_missing(std::chrono::nanoseconds waited) const {
  state_->places.reject_missing(state_->layout, waited);
}

std::vector<const void*> ReplicaGroup::meet(int local_replica, const Place& place, const void* brought) const {
  if (state_->alone()) return {brought};
  const std::uint32_t call = place.in_call ? state_->places.call_of(local_replica) : 0;
  const Visit mine{place.what, place.where, brought, call, place.use, hash_of(place.arguments)};
  std::vector<Visit> visits(state_->devices.size());
  try {
    state_->places.stand(local_replica, place.what, call);
    send_next(local_replica, nullptr);
    const CallPurpose before = local(local_replica).purpose();
    local(local_replica).set_purpose(StrategyCall{.function = StrategyFunction::meet}.purpose());
    const std::chrono::nanoseconds timeout = place.timeout.count() > 0 ? place.timeout : state_->timeout;
    collectively([&] { allgather(local(local_replica), std::span(&mine, 1), visits, {.timeout = timeout}); });
    local(local_replica).set_purpose(before);
  } catch (...) {
    state_->leave_meeting();
    throw;
  }
  std::vector<const void*> all;
  const Visit& first = visits.front();
  for (const Visit& visit : visits) {
    const auto replica = static_cast<std::size_t>(&visit - visits.data());
    if (!visit.same_place(first)) reject_places(state_->layout, first.place(visit), replica, visit.place(first));
    if (visit.use != first.use) reject_uses(state_->layout, first.place(visit), first.use, replica, visit.use);
    if (visit.arguments != first.arguments) {
      const std::vector<std::string> texts = tell(local_replica, place.arguments);
      reject_arguments(state_->layout, first.place(visit), texts.front(), replica, texts[replica]);
    }
    all.push_back(visit.brought);
  }
  return all;
}

std::vector<std::string> ReplicaGroup::tell(int local_replica, const std::string& text) const {
  std::array<char, 128> mine{};
  std::ranges::copy(text.substr(0, mine.size() - 1), mine.begin());
  std::vector<std::array<char, 128>> all(state_->devices.size());
  collectively([&] { allgather(local(local_replica), std::span(&mine, 1), all, {.timeout = state_->timeout}); });
  std::vector<std::string> texts;
  for (const std::array<char, 128>& each : all) texts.emplace_back(each.data());
  return texts;
}

bool ReplicaGroup::Use::same_types(const Use& other) const noexcept { return same(types, other.types); }

bool ReplicaGroup::Use::operator==(const Use& other) const noexcept {
  return same_types(other) && same(function, other.function) && code == other.code;
}

ReplicaGroup::Reading::Reading(const ReplicaGroup& group) : readers_(group.state_->readers) {
  if ((readers_.fetch_add(1, std::memory_order_acq_rel) & failed_in_meeting) == 0) return;
  end();
  throw Error(
      ErrorCode::revoked,
      "Strategy::run: a replica has failed while others were about to look at what it has brought: the run says why");
}

ReplicaGroup::Reading::~Reading() { end(); }

void ReplicaGroup::Reading::end() noexcept {
  readers_.fetch_sub(1, std::memory_order_acq_rel);
  readers_.notify_all();
}

}  // namespace chorus
