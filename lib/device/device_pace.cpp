// SPDX-License-Identifier: Apache-2.0
#include "device/device_pace.hpp"

#include "base/bytes.hpp"
#include "base/machine.hpp"
#include "device/accelerator.hpp"
#include "device/cuda.hpp"
#include "device/device_stream.hpp"
#include "device/peer_windows.hpp"
#include "device/stream_scratch.hpp"
#include "transport/gathering.hpp"
#include "transport/shared_group.hpp"
#include "transport/transport.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace chorus {
namespace {

using Clock = std::chrono::steady_clock;
using Way = Accelerator::Way;

constexpr int repetitions = 3;
constexpr std::size_t short_bytes = sizeof(float);
/// Nothing is faster: a measurement that says so was disturbed.
constexpr double most_megabytes_per_second = 1e7;

using Series = std::array<double, repetitions>;

constexpr Series unknown() noexcept {
  Series never{};
  never.fill(std::numeric_limits<double>::infinity());
  return never;
}

/// What a rank has measured, in microseconds; infinite where something has failed. Sent as it stands.
struct Times {
  Series copies = unknown();        ///< to the host and back
  Series both_ways = unknown();     ///< of a segment, each way at a time
  Series windows = unknown();       ///< a write, and a reduction of what all have written
  Series long_windows = unknown();  ///< the same, of many bytes
};

/// A stream of the device, and memory that comes and goes in its order.
class Room {
 public:
  explicit Room(Accelerator& device) : Room(device, context_of(device.device())) {  // so that the rest is destroyed
    const CurrentContext current(context_);
    stream_.emplace();
    memory_.emplace(std::max(machine::device_pace_bytes, 2 * machine::staged_at_once), native());
    device_.come_after(native());
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if (!stream_) return;
    device_.go_before(native());
    const CurrentContext current(context_);
    memory_.reset();
    cuda().stream_synchronize(native());
    stream_.reset();
  }

  [[nodiscard]] CUstream native() const noexcept { return stream_of(stream_->get().native()); }
  [[nodiscard]] std::byte* memory() const noexcept { return memory_->data(); }

 private:
  Room(Accelerator& device, CUcontext context) noexcept : device_(device), context_(context) {}

  Accelerator& device_;
  CUcontext context_;
  std::optional<DeviceStream> stream_;
  std::optional<StreamScratch> memory_;
};

/// Awaited, it goes on when what is in a stream is done.
class Done final : public PolledEvent {
 public:
  Done(Accelerator& device, CUstream stream, Where where = Where::here()) noexcept
      : PolledEvent(where), device_(device), stream_(stream) {}
  [[nodiscard]] std::string what() const override { return "waiting for a device, whose pace is measured"; }

 private:
  bool ready() override { return device_.is_done(stream_); }

  Accelerator& device_;
  CUstream stream_;
};

/// One rank's part of the measurement. Where a call of CUDA's fails it makes no more of them, and goes on meeting the
/// others, so that nobody waits for it.
class Measurement {
 public:
  Measurement(Transport& transport, Accelerator& device, PeerWindows* windows)
      : memory_(transport.node_memory()), device_(device), windows_(windows) {}

  Task<Times> run() {
    co_await attempt(begin());
    Times times;
    times.copies = co_await series({&Measurement::to_host, &Measurement::to_device, short_bytes});
    times.both_ways = co_await series({&Measurement::both_ways, &Measurement::nothing, machine::staged_at_once});
    if (windows_ != nullptr) {
      times.windows = co_await series({&Measurement::write, &Measurement::reduce, short_bytes});
      times.long_windows = co_await series({&Measurement::write, &Measurement::reduce, machine::device_pace_bytes});
    }
    co_return failed_ ? Times() : times;
  }

 private:
  /// What is timed: two parts, between which the ranks meet.
  struct Parts {
    Task<> (Measurement::*first)(std::size_t);
    Task<> (Measurement::*second)(std::size_t);
    std::size_t bytes;
  };

  Task<Series> series(Parts parts) {
    Series us{};
    for (int repetition = -1; repetition < repetitions; ++repetition) {
      co_await meet();
      const auto began = Clock::now();
      co_await attempt((this->*parts.first)(parts.bytes));
      co_await meet();
      co_await attempt((this->*parts.second)(parts.bytes));
      const std::chrono::duration<double, std::micro> took = Clock::now() - began;
      if (repetition >= 0) us[static_cast<std::size_t>(repetition)] = took.count();
    }
    co_return us;
  }

  Task<> attempt(Task<> part) {
    if (failed_) co_return;
    try {
      co_await std::move(part);
    } catch (const Error&) {
      failed_ = true;
      segment_.reset();
    }
  }

  /// Those that may share the device: the ranks of this node.
  Task<> meet() {
    if (memory_ != nullptr) co_await memory_->meet();
  }

  Task<> begin() {
    room_.emplace(device_);
    pinned_ = device_.pinned(2 * machine::staged_at_once).data();
    co_return;
  }

  void start(Way way, std::size_t bytes) {
    const std::size_t offset = way == Way::to_host ? 0 : machine::staged_at_once;
    device_.copy(way, 0, pinned_ + offset, room_->memory() + offset, {.count = 1, .bytes = bytes, .distance = bytes});
  }

  Task<> to_host(std::size_t bytes) {
    start(Way::to_host, bytes);
    co_await Accelerator::Copied(device_, Way::to_host, 0);
  }

  Task<> to_device(std::size_t bytes) {
    start(Way::to_device, bytes);
    co_await Accelerator::Copied(device_, Way::to_device, 0);
  }

  Task<> both_ways(std::size_t bytes) {
    start(Way::to_host, bytes);
    start(Way::to_device, bytes);
    co_await Accelerator::Copied(device_, Way::to_host, 0);
    co_await Accelerator::Copied(device_, Way::to_device, 0);
  }

  Task<> nothing(std::size_t /*bytes*/) { co_return; }

  static Call sum_of(std::size_t bytes) {
    return {.collective = Collective::allreduce, .type = DataType::float32, .count = bytes / sizeof(float)};
  }

  Task<> write(std::size_t bytes) {
    segment_.emplace(*windows_, room_->native());
    windows_->write(sum_of(bytes), room_->memory(), bytes, nullptr, room_->native());
    co_await PeerWindows::Written(*windows_);
  }

  Task<> reduce(std::size_t bytes) {
    windows_->reduce(sum_of(bytes), {0, bytes}, room_->memory(), room_->native());
    segment_->end();
    co_await Done(device_, room_->native());
    segment_.reset();
  }

  SharedGroup* memory_;
  Accelerator& device_;
  PeerWindows* windows_;
  std::optional<Room> room_;
  std::byte* pinned_ = nullptr;
  std::optional<PeerWindows::Segment> segment_;
  bool failed_ = false;
};

/// The median of the repetitions, each of which takes as long as on the slowest rank.
double us_of(const std::vector<Times>& times, Series Times::*series) {
  Series slowest{};
  for (const Times& of_rank : times) {
    std::ranges::transform(slowest, of_rank.*series, slowest.begin(),
                           [](double a, double b) { return std::max(a, b); });
  }
  std::ranges::sort(slowest);
  return slowest[repetitions / 2];
}

DevicePace pace_of(const std::vector<Times>& times) {
  DevicePace pace;
  const double copies_us = us_of(times, &Times::copies);
  const double both_ways_us = us_of(times, &Times::both_ways);
  if (!std::isfinite(copies_us + both_ways_us)) return pace;
  pace.copies_us = copies_us;
  pace.copies_megabytes_per_second = 2.0 * machine::staged_at_once / both_ways_us;
  const double windows_us = us_of(times, &Times::windows);
  const double long_us = us_of(times, &Times::long_windows);
  if (!std::isfinite(windows_us + long_us)) return pace;
  const double bytes = (static_cast<double>(times.size()) + 1) * machine::device_pace_bytes;
  pace.windows_us = windows_us / 2;
  pace.windows_megabytes_per_second = bytes / std::max(long_us - windows_us, bytes / most_megabytes_per_second);
  return pace;
}

/// The last that was found out.
struct Remembered {
  std::mutex mutex;
  std::vector<DevicePlace> places;
  bool windows = false;
  DevicePace pace;
};
Remembered& remembered() {
  static auto* const by_process = new Remembered;  // never destroyed: communicators may outlive static objects
  return *by_process;
}

DevicePace recall(const std::vector<DevicePlace>& places, bool windows) {
  const std::scoped_lock lock(remembered().mutex);
  return remembered().places == places && remembered().windows == windows ? remembered().pace : DevicePace();
}

void remember(std::vector<DevicePlace> places, bool windows, const DevicePace& pace) {
  const std::scoped_lock lock(remembered().mutex);
  remembered().places = std::move(places);
  remembered().windows = windows;
  remembered().pace = pace;
}

Task<Times> measured(Transport& transport, Accelerator& device, PeerWindows* windows) {
  Measurement measurement(transport, device, windows);
  co_return co_await measurement.run();
}

}  // namespace

Task<DevicePace> agree_on_device_pace(Transport& transport, Accelerator& device, PeerWindows* windows,
                                      std::vector<DevicePlace> places) {
  std::ranges::sort(places);
  const auto me = static_cast<std::size_t>(transport.rank());
  std::vector<DevicePace> known(places.size());
  known[me] = recall(places, windows != nullptr);
  co_await gather_records(transport, std::as_writable_bytes(std::span(known)));
  const auto first = std::ranges::find_if(known, &DevicePace::known);
  DevicePace pace;
  if (first != known.end()) {
    pace = *first;
  } else {
    std::vector<Times> times(places.size());
    times[me] = co_await measured(transport, device, windows);
    co_await gather_records(transport, std::as_writable_bytes(std::span(times)));
    if (windows != nullptr) windows->take_same_half();  // as who fails has no further segments
    pace = pace_of(times);
  }
  remember(std::move(places), windows != nullptr, pace);
  co_return pace;
}

void forget_device_pace() { remember({}, false, {}); }

}  // namespace chorus
