// SPDX-License-Identifier: Apache-2.0
#include "device/nccl_native.hpp"

#include "base/names.hpp"
#include "device/calls_in_streams.hpp"
#include "device/cuda.hpp"
#include "device/nccl.hpp"
#include "device/nccl_calls.hpp"
#include "device/nccl_thread.hpp"
#include "device/nccl_types.hpp"
#include "device/stream_depth.hpp"
#include "task/watch.hpp"
#include "transport/gathering.hpp"
#include "transport/transport.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

namespace chorus {
namespace {

/// Whose calls return when they are in their streams.
ncclConfig_t waiting() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  return config;
}

/// Makes a communicator by `make(made)`, which gives a result of NCCL's; null where it is to make none for this rank.
template <class Make>
NcclThread::Work making(Make make) {
  return [make] {
    ncclComm_t made = nullptr;
    const ncclResult_t result = make(&made);
    try {
      nccl().check(result, made);
    } catch (...) {
      if (made != nullptr) nccl().comm_abort(made);
      throw;
    }
    return made;
  };
}

/// Puts `put` into its stream, of which it keeps copies.
NcclThread::Work putting(const NcclCalls& calls, const DeviceNative::Put& put) {
  const auto* const factor = static_cast<const std::byte*>(put.factor);
  return [calls, put, in = std::vector(put.buffers.in_sections.begin(), put.buffers.in_sections.end()),
          out = std::vector(put.buffers.out_sections.begin(), put.buffers.out_sections.end()),
          copy = std::vector(factor, factor != nullptr ? factor + put.call.element_bytes() : nullptr)] {
    const Native::Buffers buffers{.in = put.buffers.in, .out = put.buffers.out, .in_sections = in, .out_sections = out};
    calls.put(put.call, buffers, copy.empty() ? nullptr : copy.data(), stream_of(put.stream));
    return ncclComm_t{};
  };
}

/// One communicator of NCCL.
class NcclNative final : public DeviceNative, private Watched {
 public:
  /// Begins to connect the ranks, all of which call; `make` makes this rank's communicator.
  NcclNative(CUcontext context, NcclThread::Work make)
      : context_(context), thread_(std::in_place, context, std::move(make)) {}
  ~NcclNative() override;

  [[nodiscard]] bool supports(const Call& call) const noexcept override { return nccl_supports(call); }
  [[nodiscard]] bool may_wait(const Put& put) const override;
  void begin(const Put& put) override;
  void queue(const Put& put) override;
  [[nodiscard]] bool is_ready() override;
  void watch_others(std::function<void()> look, std::function<void()> failed) override {
    const std::scoped_lock lock(mutex_);
    look_at_others_ = std::move(look);
    tell_of_failure_ = std::move(failed);
    if (found_) tell_of_failure_();
  }
  void settle() noexcept override;
  void abandon() noexcept final {
    const std::scoped_lock lock(mutex_);
    abort();
  }
  [[nodiscard]] std::unique_ptr<DeviceNative> split(std::optional<int> color, int key) override;

 private:
  /// A call that the calling thread is inside NCCL or the driver with, where it may wait for room in the queues of a
  /// device that waits for other ranks.
  struct Inside {
    explicit Inside(const Put& put) : call(put.call), limit(put.limit), since(Clock::now()) {}

    Call call;
    std::chrono::nanoseconds limit;  ///< 0: none
    Clock::time_point since;
    std::optional<Clock::time_point> failing_since;  ///< there is something to abort the communicator for
  };

  void begin_watch();
  void end_watch() noexcept;
  void look(Clock::time_point now) noexcept override;
  /// The same, under the lock; `thoroughly`: at the other ranks, too, however lately it has.
  void examine(Clock::time_point now, bool thoroughly) noexcept;
  void look_at_calls(Clock::time_point now);
  void look_at_ranks(Clock::time_point now);
  /// True where the calling thread is not on its way between two calls of NCCL's, as far as time tells.
  [[nodiscard]] bool may_abort(Clock::time_point now) noexcept;
  void abort() noexcept;
  void abort_on_a_thread() noexcept;
  /// Throws where NCCL has failed, or what the watch has found.
  void check_state();
  /// Does `work` for `put`, in which NCCL and the driver may let the thread wait, without `lock`.
  template <class Work>
  void inside(std::unique_lock<std::mutex>& lock, const Put& put, const Work& work);
  /// `put` is in its stream, whose device's context is the calling thread's. The driver may let that wait, too.
  void note(const Put& put);

  const Nccl& nccl_ = nccl();
  CUcontext context_;
  std::unordered_set<std::uint64_t> connected_;  // kinds of calls that have been put
  StreamDepth depth_;
  bool is_watched_ = false;
  std::mutex mutex_;                  // of what follows, which the watch uses, too
  std::optional<NcclThread> thread_;  // that connects the ranks, or puts `begun_`
  std::optional<Put> begun_;
  std::optional<Inside> inside_;
  ncclComm_t comm_ = nullptr;
  std::shared_ptr<std::atomic<bool>> is_aborted_ = std::make_shared<std::atomic<bool>>(false);
  Clock::time_point split_at_;  // the last time, on a thread
  std::optional<NcclCalls> calls_;
  CallsInStreams in_streams_;
  std::function<void()> look_at_others_;
  std::function<void()> tell_of_failure_;
  Clock::time_point looked_at_others_;
  std::exception_ptr found_;  // by the watch, which has aborted the communicator
  int process_ = getpid();    // a child that it forks has neither the watch nor the communicator
};

NcclNative::~NcclNative() {
  if (process_ != getpid()) return;
  if (is_watched_) end_watch();
  const LastContext current(context_);
  if (current) {
    in_streams_.forget();
    depth_.forget();
  }
  if (comm_ != nullptr) nccl_.comm_destroy(comm_);
}

void NcclNative::check_state() {
  if (found_) std::rethrow_exception(found_);
  ncclResult_t state = ncclSuccess;
  nccl_.check(nccl_.comm_get_async_error(comm_, &state), comm_);
  nccl_.check(state, comm_);
}

bool NcclNative::is_ready() {
  std::unique_lock lock(mutex_);
  if (thread_) {
    if (comm_ != nullptr) check_state();
    if (!thread_->is_over()) return false;
    ncclComm_t const made = thread_->take();
    thread_.reset();
    if (begun_) {
      const Put put = *std::exchange(begun_, std::nullopt);
      connected_.insert(NcclCalls::kind_of(put.call, put.buffers));
      inside(lock, put, [&] {
        const CurrentContext current(context_);
        note(put);
      });
    } else {
      if (made == nullptr) return true;  // split off without this rank
      comm_ = made;
      calls_.emplace(made, is_aborted_);
      begin_watch();
    }
  }
  check_state();
  return true;
}

void NcclNative::abort() noexcept {
  if (thread_ && comm_ != nullptr) thread_->let_enter();
  is_aborted_->store(true);
  std::this_thread::sleep_until(split_at_ + NcclThread::time_to_enter);
  if (comm_ != nullptr) abort_on_a_thread();
  thread_.reset();
}

/// Which may wait until nothing is under way on the device, also not what waits for the same lost rank in calls of
/// another communicator: that is to be aborted, too, meanwhile.
void NcclNative::abort_on_a_thread() noexcept {
  const auto abort = [&nccl = nccl_, comm = std::exchange(comm_, nullptr), context = context_] {
    const LastContext current(context);
    nccl.comm_abort(comm);
  };
  constexpr std::chrono::milliseconds as_a_rule{500};
  try {
    std::packaged_task<void()> work(abort);
    const std::future<void> over = work.get_future();
    std::thread(std::move(work)).detach();
    over.wait_for(as_a_rule);
  } catch (const std::exception&) {  // there is no thread
    abort();
  }
}

void NcclNative::begin_watch() {
  if (calls_->ranks() == 1) return;  // which waits for nobody
  Watch::of_this_process().add(*this);
  is_watched_ = true;
}

void NcclNative::end_watch() noexcept {
  Watch::of_this_process().remove(*this);
  const std::scoped_lock lock(mutex_);
  examine(Clock::now(), true);  // a rank may have been lost with nothing under way
}

void NcclNative::settle() noexcept {
  if (!is_watched_ || process_ != getpid()) return;
  const LastContext current(context_);
  if (!current) return;
  const auto is_over = [&] {
    const std::scoped_lock lock(mutex_);
    return comm_ == nullptr || in_streams_.are_over();
  };
  while (!is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::scoped_lock lock(mutex_);
  examine(Clock::now(), true);
}

void NcclNative::look(Clock::time_point now) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) examine(now, false);
}

void NcclNative::examine(Clock::time_point now, bool thoroughly) noexcept {
  if (comm_ == nullptr) return;
  const LastContext current(context_);
  if (!current) return;
  if (thoroughly) looked_at_others_ = {};
  try {
    look_at_calls(now);
    look_at_ranks(now);
  } catch (...) {
    if (!may_abort(now)) return;
    found_ = std::current_exception();
    if (tell_of_failure_) tell_of_failure_();
    abort();
  }
}

/// Not each time, as that asks the system for each rank.
void NcclNative::look_at_ranks(Clock::time_point now) {
  constexpr std::chrono::milliseconds interval{500};
  if (!look_at_others_ || now - looked_at_others_ < interval) return;
  looked_at_others_ = now;
  look_at_others_();
}

bool NcclNative::may_abort(Clock::time_point now) noexcept {
  if (!inside_) return true;
  if (!inside_->failing_since) inside_->failing_since = now;
  return now - *inside_->failing_since >= NcclThread::time_to_enter;
}

void NcclNative::look_at_calls(Clock::time_point now) {
  check_state();
  if (inside_ && inside_->limit.count() > 0 && now - inside_->since >= inside_->limit) {
    throw Error(ErrorCode::timeout,
                fmt::format("ranks did not come to {} within {:.3g} s, and NCCL has been aborted; see that every rank "
                            "makes the same calls, or allow them more time",
                            describe(inside_->call), std::chrono::duration<double>(inside_->limit).count()));
  }
  const std::optional<CallsInStreams::Put> late = in_streams_.late(now);
  if (!late) return;
  throw Error(
      ErrorCode::timeout,
      fmt::format("{} was not over in its stream after {:.3g} s and has been aborted; see that every rank makes "
                  "the same calls, or allow them more time. chorus::synchronize names ranks that do not come",
                  describe(late->call), std::chrono::duration<double>(late->limit).count()));
}

bool NcclNative::may_wait(const Put& put) const {
  if (calls_->ranks() == 1) return false;
  const bool connected = connected_.contains(NcclCalls::kind_of(put.call, put.buffers));
  if (connected && !depth_.may_be_full()) return false;
  const CurrentContext current(context_);
  if (connected && !depth_.is_full()) return false;
  return !cuda().is_captured(stream_of(put.stream));
}

void NcclNative::begin(const Put& put) {
  const std::scoped_lock lock(mutex_);
  if (found_) std::rethrow_exception(found_);
  begun_ = put;
  thread_.emplace(context_, putting(*calls_, put));
}

void NcclNative::queue(const Put& put) {
  const CurrentContext current(context_);
  const auto into_stream = [&] { calls_->put(put.call, put.buffers, put.factor, stream_of(put.stream)); };
  if (!is_watched_) {
    into_stream();  // NCCL itself says in each call what has failed
    return note(put);
  }
  std::unique_lock lock(mutex_);
  if (found_) std::rethrow_exception(found_);
  inside(lock, put, [&] {
    into_stream();
    note(put);
  });
}

template <class Work>
void NcclNative::inside(std::unique_lock<std::mutex>& lock, const Put& put, const Work& work) {
  inside_.emplace(put);
  lock.unlock();
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  inside_.reset();
  if (found_) std::rethrow_exception(found_);
  if (failure) std::rethrow_exception(failure);
}

void NcclNative::note(const Put& put) {
  const bool is_limited = is_watched_ && put.limit.count() > 0;
  depth_.add(stream_of(put.stream), is_limited ? 2 : 1);
  if (!is_limited) return;
  in_streams_.add({put.call, Clock::now(), put.limit, stream_of(put.stream)});
}

std::unique_ptr<DeviceNative> NcclNative::split(std::optional<int> color, int key) {
  const std::scoped_lock lock(mutex_);
  check_state();
  split_at_ = Clock::now();
  const auto make = [&nccl = nccl_, comm = comm_, is_aborted = is_aborted_, color, key](ncclComm_t* made) {
    if (is_aborted->load()) return ncclInvalidUsage;
    ncclConfig_t config = waiting();
    return nccl.comm_split(comm, color.value_or(NCCL_SPLIT_NOCOLOR), key, made, &config);
  };
  return std::make_unique<NcclNative>(context_, making(make));
}

/// What helps where NCCL cannot begin.
constexpr const char* without_nccl = "; with CHORUS_NCCL_LIBRARY=none calls go other ways";

}  // namespace

NcclHere nccl_here() try { return {.version = nccl().version, .missing = {}}; } catch (const Error& error) {
  return {.version = 0, .missing = error.message(), .code = error.code()};
}

Task<std::unique_ptr<DeviceNative>> connect_nccl(Transport& transport, int device) {
  ncclUniqueId id{};
  std::string text;
  if (transport.rank() == 0 && nccl().get_unique_id(&id) == ncclSuccess) text.assign(id.internal, sizeof id.internal);
  text = co_await spread_text(transport, std::move(text));
  if (text.size() != sizeof id.internal) {
    throw Error(ErrorCode::transport, std::string("NCCL gives rank 0 no address to meet at; NCCL_DEBUG=WARN makes it "
                                                  "say why") +
                                          without_nccl);
  }
  std::ranges::copy(text, id.internal);
  const auto make = [id, rank = transport.rank(), ranks = transport.size()](ncclComm_t* made) {
    ncclConfig_t config = waiting();
    return nccl().comm_init_rank_config(made, ranks, id, rank, &config);
  };
  try {
    auto native = std::make_unique<NcclNative>(context_of(device), making(make));
    co_await DeviceNative::Connected(*native);
    co_return native;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::transport) throw;
    throw Error(error.code(), error.message() + without_nccl);
  }
}

}  // namespace chorus
