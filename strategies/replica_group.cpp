// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/replica_group.hpp>

#include "replica_threads.hpp"

#include <chorus/allgather.hpp>
#include <chorus/barrier.hpp>
#include <chorus/error.hpp>
#include <chorus/thread_communicators.hpp>

#include <fmt/format.h>

#include <algorithm>
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
  const char* file;
  std::uint32_t line;
  const void* brought;

  [[nodiscard]] bool same_place(const Visit& other) const {
    return std::string_view(what) == other.what && line == other.line && std::string_view(file) == other.file;
  }
  [[nodiscard]] std::string place() const { return line == 0 ? what : fmt::format("{} at {}:{}", what, file, line); }
};

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    return thrown.message();
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Throws unless every worker has as many replicas as this one.
void check_equal_numbers(const Communicator& workers, int replicas) {
  std::vector<int> numbers(static_cast<std::size_t>(workers.size()));
  allgather(workers, std::span(&replicas, 1), numbers);
  const auto other = std::ranges::find_if(numbers, [&](int number) { return number != numbers.front(); });
  if (other == numbers.end()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("strategy: worker 0 has {} devices and worker {} has {}: give every worker as many",
                          numbers.front(), other - numbers.begin(), *other));
}

}  // namespace

struct ReplicaGroup::State {
  State(std::vector<Device> chosen, const std::optional<Communicator>& workers)
      : devices(std::move(chosen)), all_workers(workers), threads(devices) {}

  [[nodiscard]] bool alone() const noexcept { return devices.size() == 1; }
  /// Replaces the communicators that an earlier run has broken. All workers come here after such a run.
  void renew() {
    if (!failed) return;
    if (!alone()) local = thread_communicators(layout.local_replicas);
    if (all_workers) between_workers = all_workers->dup();
    failed = nullptr;  // only now: where a worker is lost, the next run says so, too
  }

  std::vector<Device> devices;
  std::optional<Communicator> all_workers;  // whole as long as the processes live: only to make others from
  std::optional<Communicator> between_workers;
  ReplicaLayout layout;
  std::vector<Communicator> local;  // as each replica has it
  std::atomic<bool> running{false};
  std::mutex mutex;           // for what follows
  std::exception_ptr failed;  // what the first replica to fail has thrown
  int failed_replica = 0;
  ReplicaThreads threads;
};

ReplicaGroup::ReplicaGroup(std::vector<Device> devices, const std::optional<Communicator>& workers) {
  if (devices.empty()) {
    throw Error(ErrorCode::invalid_argument, "strategy: there is no device: name one, or leave the choice to chorus");
  }
  state_ = std::make_unique<State>(std::move(devices), workers);
  state_->layout.local_replicas = static_cast<int>(state_->devices.size());
  if (workers && workers->size() > 1) {
    check_equal_numbers(*workers, state_->layout.local_replicas);
    state_->layout.workers = workers->size();
    state_->layout.worker = workers->rank();
    state_->between_workers = workers->dup();
  } else {
    state_->all_workers.reset();
  }
  if (!state_->alone()) state_->local = thread_communicators(state_->layout.local_replicas);
}

ReplicaGroup::~ReplicaGroup() = default;

const ReplicaLayout& ReplicaGroup::layout() const noexcept { return state_->layout; }

std::span<const Device> ReplicaGroup::devices() const noexcept { return state_->devices; }

const Communicator& ReplicaGroup::local(int local_replica) const {
  return state_->local.at(static_cast<std::size_t>(local_replica));
}

const Communicator* ReplicaGroup::workers() const {
  if (!state_->running) state_->renew();
  return state_->between_workers ? &*state_->between_workers : nullptr;
}

void ReplicaGroup::run(const std::function<void(int)>& body) {
  if (state_->running.exchange(true)) {
    throw Error(ErrorCode::invalid_argument,
                "Strategy::run: another thread is in a run of this strategy: make one call at a time");
  }
  struct Ended {
    std::atomic<bool>& running;
    ~Ended() { running = false; }
  } ended{state_->running};

  state_->renew();
  state_->threads.run([&](int replica) { end(body, replica); });
  if (workers() != nullptr) {
    try {
      if (state_->failed) {
        workers()->revoke(fmt::format("replica {} of worker {} threw: {}", state_->failed_replica,
                                      state_->layout.worker, text_of(state_->failed)));
      } else {
        barrier(*workers());
      }
    } catch (...) {
      if (!state_->failed) state_->failed = std::current_exception();
    }
  }
  if (state_->failed) std::rethrow_exception(state_->failed);
}

void ReplicaGroup::end(const std::function<void(int)>& body, int local_replica) {
  try {
    body(local_replica);
    if (!state_->alone()) meet(local_replica, {"the end of the function", {}});
  } catch (...) {
    const std::scoped_lock lock(state_->mutex);
    if (!state_->failed) {
      state_->failed = std::current_exception();
      state_->failed_replica = local_replica;
    }
    if (!state_->alone()) {
      local(local_replica).revoke(fmt::format("replica {} threw: {}", state_->failed_replica, text_of(state_->failed)));
    }
  }
}

std::vector<const void*> ReplicaGroup::meet(int local_replica, const Place& place, const void* brought) const {
  if (state_->alone()) return {brought};
  const Visit mine{place.what, place.where.file, place.where.line, brought};
  std::vector<Visit> visits(state_->devices.size());
  allgather(local(local_replica), std::span(&mine, 1), visits, {.timeout = place.timeout});
  std::vector<const void*> all;
  for (const Visit& visit : visits) {
    if (!visit.same_place(visits.front())) {
      throw Error(ErrorCode::mismatch,
                  fmt::format("the replicas have come to different places: replica 0 to {}, replica {} to {}; every "
                              "replica must make the same calls",
                              visits.front().place(), &visit - visits.data(), visit.place()));
    }
    all.push_back(visit.brought);
  }
  return all;
}

}  // namespace chorus
