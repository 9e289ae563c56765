// SPDX-License-Identifier: Apache-2.0
#include "device/nccl_native.hpp"

#include "base/names.hpp"
#include "device/calls_in_streams.hpp"
#include "device/cuda.hpp"
#include "device/nccl.hpp"
#include "device/nccl_connection.hpp"
#include "device/nccl_types.hpp"
#include "device/sections_of.hpp"
#include "device/stream_scratch.hpp"
#include "task/watch.hpp"
#include "transport/gathering.hpp"
#include "transport/transport.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace chorus {
namespace {

/// Whose calls return when they are in their streams.
ncclConfig_t waiting() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  return config;
}

/// One communicator of NCCL.
class NcclNative final : public DeviceNative, private Watched {
 public:
  /// Begins to connect the ranks, all of which call with a `make` of the same kind.
  NcclNative(CUcontext context, const NcclConnection::Make& make)
      : context_(context), connection_(std::in_place, context, make) {}
  ~NcclNative() override {
    if (limit_.count() > 0) end_watch();
    if (comm_ != nullptr) nccl_.comm_destroy(comm_);
  }

  [[nodiscard]] bool supports(const Call& call) const noexcept override { return nccl_supports(call); }
  void queue(const Call& call, const Native::Buffers& buffers, const void* factor, void* stream) override;
  [[nodiscard]] bool is_ready() override;
  void abandon() noexcept final {
    const std::scoped_lock lock(mutex_);
    abort();
  }
  void watch(std::chrono::nanoseconds limit) override {
    limit_ = limit;
    Watch::of_this_process().add(*this);
  }
  [[nodiscard]] std::unique_ptr<DeviceNative> split(std::optional<int> color, int key) override;

 private:
  /// While it lives, the calling thread is inside NCCL with a call.
  class Inside {
   public:
    Inside(NcclNative& native, Clock::time_point now) noexcept : native_(native) { native_.inside_since_.store(now); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { leave(); }
    /// True where the watch has taken the communicator meanwhile, to abort it.
    bool leave() noexcept { return native_.inside_since_.exchange(outside) == taken; }

   private:
    NcclNative& native_;
  };
  static constexpr Clock::time_point outside{};
  static constexpr Clock::time_point taken = Clock::time_point::max();

  void end_watch() noexcept;
  void look(Clock::time_point now) noexcept override;
  void look_at_calls(Clock::time_point now);
  void look_inside(Clock::time_point now) noexcept;
  void abort() noexcept;
  void check(ncclResult_t result) const { nccl_.check(result, comm_); }
  /// Throws where NCCL has failed, or what the watch has found.
  void check_state();
  void put(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream);
  /// The watch aborts the communicator, as `call` has been inside for too long. Throws Error{timeout}.
  [[noreturn]] void give_up(const Call& call);
  /// Sends the sections of `in` and receives those of `out`, all at a time.
  void exchange(const Call& call, const Native::Buffers& buffers, CUstream stream);
  /// To each rank its section, whose lengths may differ.
  void reduce_sections(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream);
  void reduce_scatter_blocks(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream);
  /// The collectives that join numbers, by `op`.
  void reduce(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream);
  void reduce_multiplied(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream);
  void move(const Call& call, const Native::Buffers& buffers, CUstream stream);
  /// Calls `parts(note)`, whose calls of NCCL are carried out as one: it gives `note` what each of them returns.
  template <class Parts>
  void in_one(const Parts& parts) const;

  const Nccl& nccl_ = nccl();
  CUcontext context_;
  int rank_ = 0;
  int ranks_ = 0;
  std::mutex mutex_;                          // of what follows, which the watch uses, too
  std::optional<NcclConnection> connection_;  // until it is made
  ncclComm_t comm_ = nullptr;
  std::chrono::nanoseconds limit_{};  // 0: not watched
  CallsInStreams calls_;
  std::optional<Error> found_;  // by the watch, which has aborted the communicator
  std::atomic<Clock::time_point> inside_since_{outside};
};

void NcclNative::check_state() {
  if (found_) throw Error(*found_);
  ncclResult_t state = ncclSuccess;
  check(nccl_.comm_get_async_error(comm_, &state));
  check(state);
}

bool NcclNative::is_ready() {
  const std::scoped_lock lock(mutex_);
  if (connection_) {
    if (!connection_->is_over()) return false;
    comm_ = connection_->take();
    connection_.reset();
    if (comm_ == nullptr) return true;  // split off without this rank
    check(nccl_.comm_user_rank(comm_, &rank_));
    check(nccl_.comm_count(comm_, &ranks_));
  }
  check_state();
  return true;
}

void NcclNative::abort() noexcept {
  connection_.reset();
  if (comm_ != nullptr) nccl_.comm_abort(std::exchange(comm_, nullptr));
}

void NcclNative::end_watch() noexcept {
  Watch::of_this_process().remove(*this);
  if (const LastContext current(context_); current) calls_.forget();
}

void NcclNative::look(Clock::time_point now) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return look_inside(now);
  if (comm_ == nullptr) return;
  try {
    look_at_calls(now);
  } catch (const Error& error) {
    found_.emplace(error);
    abort();
  }
}

void NcclNative::look_at_calls(Clock::time_point now) {
  const CurrentContext current(context_);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;  // so that it disturbs no capture of other threads
  cuda().check(cuda().thread_exchange_stream_capture_mode(&mode), "leave captures alone");
  check_state();
  const std::optional<Call> late = calls_.late(now, limit_);
  if (!late) return;
  throw Error(ErrorCode::timeout, fmt::format("{} was not over in its stream after {:.3g} s and has been aborted",
                                              describe(*late), std::chrono::duration<double>(limit_).count()));
}

/// A call that connects ranks waits inside NCCL for those that do not come.
void NcclNative::look_inside(Clock::time_point now) noexcept {
  Clock::time_point since = inside_since_.load();
  if (since == outside || since == taken || now - since < limit_) return;
  ncclComm_t const comm = comm_;  // which stays as it is while the call is inside
  if (inside_since_.compare_exchange_strong(since, taken)) nccl_.comm_abort(comm);
}

template <class Parts>
void NcclNative::in_one(const Parts& parts) const {
  check(nccl_.group_start());
  ncclResult_t first = ncclSuccess;
  parts([&first](ncclResult_t result) {
    if (first == ncclSuccess) first = result;
  });
  const ncclResult_t all = nccl_.group_end();
  check(first);
  check(all);
}

void NcclNative::exchange(const Call& call, const Native::Buffers& buffers, CUstream stream) {
  const ExchangedSections sections = sections_of(call, buffers, rank_, ranks_);
  const bool in_place = buffers.in == buffers.out;
  const bool all_change = call.collective == Collective::alltoall || call.collective == Collective::alltoallv;
  const std::byte* in = buffers.in;
  std::optional<StreamScratch> copy;
  if (in_place && all_change) in = copy.emplace(extent_of(sections.in), stream).filled_from(buffers.in);
  const auto address = [](const std::byte* base, const Section& section) { return base + section.offset; };
  in_one([&](const auto& note) {
    for (int step = 0; step < ranks_; ++step) {
      const int to = (rank_ + step) % ranks_;
      const int from = (rank_ + ranks_ - step) % ranks_;
      const Section& sent = sections.in[static_cast<std::size_t>(to)];
      const Section& got = sections.out[static_cast<std::size_t>(from)];
      const bool stays = step == 0 && address(in, sent) == address(buffers.out, got);
      if (stays) continue;
      if (sent.bytes > 0) note(nccl_.send(address(in, sent), sent.bytes, ncclUint8, to, comm_, stream));
      if (got.bytes > 0) note(nccl_.recv(buffers.out + got.offset, got.bytes, ncclUint8, from, comm_, stream));
    }
  });
}

void NcclNative::reduce_sections(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream) {
  const Section& own = buffers.in_sections[static_cast<std::size_t>(rank_)];
  std::byte* out = buffers.out;
  std::optional<StreamScratch> result;  // where it would overwrite what other ranks are still to get
  if (buffers.in == buffers.out && own.bytes > 0) out = result.emplace(own.bytes, stream).data();
  in_one([&](const auto& note) {
    for (int root = 0; root < ranks_; ++root) {
      const Section& section = buffers.in_sections[static_cast<std::size_t>(root)];
      if (section.bytes == 0) continue;
      note(nccl_.reduce(buffers.in + section.offset, out, section.bytes / call.element_bytes(), nccl_type(call.type),
                        op, root, comm_, stream));
    }
  });
  if (result) result->copy_to(buffers.out);
}

void NcclNative::reduce_scatter_blocks(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op,
                                       CUstream stream) {
  const bool in_place = buffers.in == buffers.out;
  const std::size_t place = in_place ? static_cast<std::size_t>(rank_) * call.bytes() : 0;  // where NCCL puts it
  std::byte* const out = buffers.out + place;
  check(nccl_.reduce_scatter(buffers.in, out, call.count, nccl_type(call.type), op, comm_, stream));
  if (place > 0) copy_in_stream(buffers.out, out, call.bytes(), stream);
}

void NcclNative::reduce(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream) {
  const ncclDataType_t type = nccl_type(call.type);
  switch (call.collective) {
    case Collective::allreduce:
      return check(nccl_.all_reduce(buffers.in, buffers.out, call.count, type, op, comm_, stream));
    case Collective::reduce:
      return check(nccl_.reduce(buffers.in, buffers.out, call.count, type, op, call.root, comm_, stream));
    case Collective::reduce_scatter_block:
      return reduce_scatter_blocks(call, buffers, op, stream);
    default:
      return reduce_sections(call, buffers, op, stream);
  }
}

void NcclNative::move(const Call& call, const Native::Buffers& buffers, CUstream stream) {
  if (call.collective == Collective::bcast) {
    return check(nccl_.broadcast(buffers.in, buffers.out, call.bytes(), ncclUint8, call.root, comm_, stream));
  }
  if (call.collective == Collective::allgather) {
    const bool in_place = buffers.in == buffers.out;
    const std::byte* const own = buffers.in + (in_place ? static_cast<std::size_t>(rank_) * call.bytes() : 0);
    return check(nccl_.all_gather(own, buffers.out, call.bytes(), ncclUint8, comm_, stream));
  }
  exchange(call, buffers, stream);
}

void NcclNative::put(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream) {
  if (!has_op(call.collective)) {
    move(call, buffers, stream);
  } else if (factor == nullptr) {
    reduce(call, buffers, nccl_op(call.op), stream);
  } else {
    reduce_multiplied(call, buffers, factor, stream);
  }
}

void NcclNative::queue(const Call& call, const Native::Buffers& buffers, const void* factor, void* opaque) {
  const CurrentContext current(context_);
  const std::scoped_lock lock(mutex_);
  if (found_) throw Error(*found_);  // NCCL itself says in each call what has failed
  auto* const stream = static_cast<CUstream>(opaque);
  if (limit_.count() == 0) return put(call, buffers, factor, stream);
  const Clock::time_point now = Clock::now();
  Inside inside(*this, now);
  try {
    put(call, buffers, factor, stream);
  } catch (const Error&) {
    if (!inside.leave()) throw;
    give_up(call);
  }
  if (inside.leave()) give_up(call);
  calls_.add({call, now, stream});
}

void NcclNative::give_up(const Call& call) {
  comm_ = nullptr;
  found_.emplace(ErrorCode::timeout, fmt::format("ranks did not come to {} within {:.3g} s, and NCCL has been aborted",
                                                 describe(call), std::chrono::duration<double>(limit_).count()));
  throw Error(*found_);
}

void NcclNative::reduce_multiplied(const Call& call, const Native::Buffers& buffers, const void* factor,
                                   CUstream stream) {
  ncclRedOp_t op{};
  check(nccl_.red_op_create_pre_mul_sum(&op, const_cast<void*>(factor), nccl_type(call.type), ncclScalarHostImmediate,
                                        comm_));
  reduce(call, buffers, op, stream);
  check(nccl_.red_op_destroy(op, comm_));
}

std::unique_ptr<DeviceNative> NcclNative::split(std::optional<int> color, int key) {
  const std::scoped_lock lock(mutex_);
  check_state();
  return std::make_unique<NcclNative>(context_, [&nccl = nccl_, comm = comm_, color, key](ncclComm_t* made) {
    ncclConfig_t config = waiting();
    return nccl.comm_split(comm, color.value_or(NCCL_SPLIT_NOCOLOR), key, made, &config);
  });
}

}  // namespace

NcclHere nccl_here() try { return {.version = nccl().version, .missing = {}}; } catch (const Error& error) {
  return {.version = 0, .missing = error.message()};
}

Task<std::unique_ptr<DeviceNative>> connect_nccl(Transport& transport, int device) {
  ncclUniqueId id{};
  std::string text;
  if (transport.rank() == 0 && nccl().get_unique_id(&id) == ncclSuccess) text.assign(id.internal, sizeof id.internal);
  text = co_await spread_text(transport, std::move(text));
  if (text.size() != sizeof id.internal) {
    throw Error(ErrorCode::transport, "NCCL gives rank 0 no address to meet at; NCCL_DEBUG=WARN makes it say why");
  }
  std::ranges::copy(text, id.internal);
  auto native = std::make_unique<NcclNative>(context_of(device),
                                             [id, rank = transport.rank(), ranks = transport.size()](ncclComm_t* made) {
                                               ncclConfig_t config = waiting();
                                               return nccl().comm_init_rank_config(made, ranks, id, rank, &config);
                                             });
  co_await DeviceNative::Connected(*native);
  co_return native;
}

}  // namespace chorus
