// SPDX-License-Identifier: Apache-2.0
#include "device/nccl_native.hpp"

#include "base/names.hpp"
#include "device/calls_in_streams.hpp"
#include "device/cuda.hpp"
#include "device/nccl.hpp"
#include "device/nccl_types.hpp"
#include "device/sections_of.hpp"
#include "device/stream_scratch.hpp"
#include "task/watch.hpp"
#include "transport/gathering.hpp"
#include "transport/transport.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace chorus {
namespace {

/// One communicator of NCCL; what is handed to it returns at once.
class NcclNative final : public DeviceNative, private Watched {
 public:
  NcclNative(CUcontext context, int rank, int ranks) noexcept : context_(context), rank_(rank), ranks_(ranks) {}
  ~NcclNative() override {
    if (limit_.count() > 0) end_watch();
    if (!connected_) abandon();
    if (comm_ != nullptr) nccl_.comm_destroy(comm_);
  }

  /// Begins to connect the ranks, all of which know `id`.
  void begin(const ncclUniqueId& id) {
    const CurrentContext current(context_);
    ncclConfig_t config = at_once();
    check(nccl_.comm_init_rank_config(&comm_, ranks_, id, rank_, &config));
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
  [[nodiscard]] static ncclConfig_t at_once() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return config;
  }
  void end_watch() noexcept;
  void look(Clock::time_point now) noexcept override;
  void abort() noexcept;
  void check(ncclResult_t result) const { nccl_.check(result, comm_); }
  /// What NCCL says of its calls under way. Throws what the watch has found.
  [[nodiscard]] ncclResult_t state();
  /// Sends the sections of `in` and receives those of `out`, all at a time.
  void exchange(const Call& call, const Native::Buffers& buffers, CUstream stream);
  /// To each rank its section, whose lengths may differ.
  void reduce_sections(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream);
  void reduce_scatter_blocks(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream);
  /// The collectives that join numbers, by `op`.
  void reduce(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream);
  void reduce_multiplied(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream);
  void move(const Call& call, const Native::Buffers& buffers, CUstream stream);
  /// NCCL may put a call into its stream some time after it was told to: what comes after it there is kept until then.
  void follow();
  /// Calls `parts(note)`, whose calls of NCCL are carried out as one: it gives `note` what each of them returns.
  template <class Parts>
  void in_one(const Parts& parts) const;

  const Nccl& nccl_ = nccl();
  CUcontext context_;
  int rank_;
  int ranks_;
  std::mutex mutex_;  // of what follows, which the watch uses, too
  ncclComm_t comm_ = nullptr;
  bool connected_ = false;
  std::chrono::nanoseconds limit_{};        // 0: not watched
  std::function<void()> after_;             // what follows the call in its stream
  std::optional<ncclRedOp_t> op_;           // of that call, where it was made for it
  std::unique_ptr<StreamScratch> scratch_;  // of that call
  std::optional<CallsInStreams::Put> put_;  // that call, where it is watched
  CallsInStreams calls_;
  std::optional<Error> found_;  // by the watch, which has aborted the communicator
};

ncclResult_t NcclNative::state() {
  if (found_) throw Error(*found_);
  ncclResult_t state = ncclSuccess;
  check(nccl_.comm_get_async_error(comm_, &state));
  return state;
}

bool NcclNative::is_ready() {
  const std::scoped_lock lock(mutex_);
  const ncclResult_t now = state();
  check(now);
  if (now != ncclSuccess) return false;
  connected_ = true;
  follow();
  return true;
}

void NcclNative::follow() {
  if (!after_ && !scratch_ && !put_ && !op_) return;
  const CurrentContext current(context_);
  if (op_) check(nccl_.red_op_destroy(*std::exchange(op_, std::nullopt), comm_));
  if (after_) std::exchange(after_, nullptr)();
  scratch_.reset();
  if (put_) calls_.add(*std::exchange(put_, std::nullopt));
}

void NcclNative::abort() noexcept {
  if (comm_ != nullptr) nccl_.comm_abort(std::exchange(comm_, nullptr));
  after_ = nullptr;
  put_.reset();
  op_.reset();
  if (!scratch_) return;
  const LastContext current(context_);
  if (current) scratch_.reset();
}

void NcclNative::end_watch() noexcept {
  Watch::of_this_process().remove(*this);
  if (const LastContext current(context_); current) calls_.forget();
}

void NcclNative::look(Clock::time_point now) noexcept {
  const std::scoped_lock lock(mutex_);
  if (comm_ == nullptr) return;
  try {
    const CurrentContext current(context_);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;  // so that it disturbs no capture of other threads
    cuda().check(cuda().thread_exchange_stream_capture_mode(&mode), "leave captures alone");
    check(state());
    const std::optional<Call> late = calls_.late(now, limit_);
    if (!late) return;
    found_.emplace(ErrorCode::timeout, fmt::format("{} was not over in its stream after {:.3g} s and has been aborted",
                                                   describe(*late), std::chrono::duration<double>(limit_).count()));
  } catch (const Error& error) {
    found_.emplace(error);
  }
  abort();
}

template <class Parts>
void NcclNative::in_one(const Parts& parts) const {
  check(nccl_.group_start());
  ncclResult_t first = ncclSuccess;
  parts([&first](ncclResult_t result) {
    if (first == ncclSuccess && result != ncclInProgress) first = result;
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
  if (in_place && all_change) {
    scratch_ = std::make_unique<StreamScratch>(extent_of(sections.in), stream);
    in = scratch_->filled_from(buffers.in);
  }
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
  if (buffers.in == buffers.out && own.bytes > 0) {  // the result would overwrite what other ranks are still to get
    scratch_ = std::make_unique<StreamScratch>(own.bytes, stream);
    out = scratch_->data();
    after_ = [this, to = buffers.out] { scratch_->copy_to(to); };
  }
  in_one([&](const auto& note) {
    for (int root = 0; root < ranks_; ++root) {
      const Section& section = buffers.in_sections[static_cast<std::size_t>(root)];
      if (section.bytes == 0) continue;
      note(nccl_.reduce(buffers.in + section.offset, out, section.bytes / call.element_bytes(), nccl_type(call.type),
                        op, root, comm_, stream));
    }
  });
}

void NcclNative::reduce_scatter_blocks(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op,
                                       CUstream stream) {
  const bool in_place = buffers.in == buffers.out;
  const std::size_t place = in_place ? static_cast<std::size_t>(rank_) * call.bytes() : 0;  // where NCCL puts it
  std::byte* const out = buffers.out + place;
  check(nccl_.reduce_scatter(buffers.in, out, call.count, nccl_type(call.type), op, comm_, stream));
  if (place == 0) return;
  after_ = [to = buffers.out, out, bytes = call.bytes(), stream] { copy_in_stream(to, out, bytes, stream); };
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

void NcclNative::queue(const Call& call, const Native::Buffers& buffers, const void* factor, void* opaque) {
  const CurrentContext current(context_);
  const std::scoped_lock lock(mutex_);
  check(state());
  auto* const stream = static_cast<CUstream>(opaque);
  if (!has_op(call.collective)) {
    move(call, buffers, stream);
  } else if (factor == nullptr) {
    reduce(call, buffers, nccl_op(call.op), stream);
  } else {
    reduce_multiplied(call, buffers, factor, stream);
  }
  if (limit_.count() > 0) put_ = {call, CallsInStreams::Clock::now(), stream};
}

void NcclNative::reduce_multiplied(const Call& call, const Native::Buffers& buffers, const void* factor,
                                   CUstream stream) {
  ncclRedOp_t op{};
  check(nccl_.red_op_create_pre_mul_sum(&op, const_cast<void*>(factor), nccl_type(call.type), ncclScalarHostImmediate,
                                        comm_));
  op_ = op;
  reduce(call, buffers, op, stream);
}

std::unique_ptr<DeviceNative> NcclNative::split(std::optional<int> color, int key) {
  const CurrentContext current(context_);
  const std::scoped_lock lock(mutex_);
  check(state());
  auto made = std::make_unique<NcclNative>(context_, 0, 0);
  ncclConfig_t config = at_once();
  check(nccl_.comm_split(comm_, color.value_or(NCCL_SPLIT_NOCOLOR), key, &made->comm_, &config));
  return made;
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
  auto native = std::make_unique<NcclNative>(context_of(device), transport.rank(), transport.size());
  native->begin(id);
  co_await DeviceNative::Queued(*native);
  co_return native;
}

}  // namespace chorus
