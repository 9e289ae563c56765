// SPDX-License-Identifier: Apache-2.0
#include "device/peer_windows.hpp"

#include "base/bytes.hpp"
#include "device/cuda.hpp"
#include "device/reduce_kernel.hpp"
#include "device/window_memory.hpp"
#include "transport/gathering.hpp"
#include "transport/transport.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace {

class CudaWindows final : public PeerWindows {
 public:
  CudaWindows(int device, const ProcessId& process, const Transport& transport, std::size_t half_bytes)
      : CudaWindows(context_of(device), transport.rank(), half_bytes) {  // so that it is destroyed where the rest fails
    const CurrentContext current(context_);
    kernel_ = reduce_kernel(context_);
    for (CUevent* event : {&written_, &over_}) {
      cuda_.check(cuda_.event_create(event, CU_EVENT_DISABLE_TIMING), "make an event");
    }
    const auto ranks = static_cast<std::size_t>(transport.size());
    memory_.emplace(context_, device, process, 2 * half_bytes_, ranks);
  }

  ~CudaWindows() override {
    const LastContext current(context_);
    if (!current) return;
    if (over_ != nullptr) cuda_.event_synchronize(over_);  // this rank still reads the others' windows
    for (CUevent_st* const event : {written_, over_}) {
      if (event != nullptr) cuda_.event_destroy(event);
    }
    memory_.reset();
  }

  [[nodiscard]] WindowMemory& memory() noexcept { return *memory_; }
  void open(const std::vector<WindowAddress>& all) {
    const CurrentContext current(context_);
    memory_->open(all);
  }

  [[nodiscard]] bool supports(const Call& call) const noexcept override {
    return call.collective == Collective::allreduce && call.repeatability != Repeatability::reproducible &&
           device_kernels::supports(call.type, call.op);
  }
  [[nodiscard]] std::size_t half_bytes() const noexcept override { return half_bytes_; }

  void write(const Call& call, const std::byte* in, std::size_t bytes, const void* factor, void* stream) override {
    const CurrentContext current(context_);
    if (factor == nullptr) {
      cuda_.check(
          cuda_.memcpy_device_to_device_async(address_of(half_of(rank_)), address_of(in), bytes, stream_of(stream)),
          "copy on the device");
    } else {
      device_kernels::Reduction product = reduction(call, bytes, half_of(rank_));
      product.inputs[product.ranks++] = in;
      product.multiplies = true;
      std::memcpy(&product.factor, factor, call.element_bytes());
      launch_reduction(kernel_, product, stream_of(stream));
    }
    cuda_.check(cuda_.event_record(written_, stream_of(stream)), "record an event");
  }

  [[nodiscard]] bool is_written() override {
    const CurrentContext current(context_);
    return cuda_.is_over(cuda_.event_query(written_));
  }

  void reduce(const Call& call, const Section& section, std::byte* out, void* stream) override {
    const CurrentContext current(context_);
    device_kernels::Reduction joined = reduction(call, section.bytes, out);
    joined.ranks = static_cast<int>(memory_->peers().size());
    for (int peer = 0; peer < joined.ranks; ++peer) joined.inputs[peer] = half_of(peer) + section.offset;
    launch_reduction(kernel_, joined, stream_of(stream));
  }

  void reduce_within(const Call& call, const Section& section, void* stream) override {
    if (section.bytes > 0) reduce(call, section, half_of(rank_) + section.offset, stream);
    const CurrentContext current(context_);
    cuda_.check(cuda_.event_record(written_, stream_of(stream)), "record an event");
  }

  void read(int peer, const Section& section, std::byte* out, void* stream) override {
    if (section.bytes == 0) return;
    const CurrentContext current(context_);
    cuda_.check(cuda_.memcpy_device_to_device_async(address_of(out), address_of(half_of(peer) + section.offset),
                                                    section.bytes, stream_of(stream)),
                "copy from another rank's window");
  }

  void take_same_half() noexcept override { half_ = 0; }

 private:
  CudaWindows(CUcontext context, int rank, std::size_t half_bytes) noexcept
      : context_(context), rank_(rank), half_bytes_(half_bytes) {}

  void begin(void* stream) override {
    const CurrentContext current(context_);
    half_ = 1 - half_;
    cuda_.check(cuda_.stream_wait_event(stream_of(stream), over_, CU_EVENT_WAIT_DEFAULT), "wait for an event");
  }

  void end(void* stream) override {
    const CurrentContext current(context_);
    cuda_.check(cuda_.event_record(over_, stream_of(stream)), "record an event");
  }

  void give_up(void* stream) noexcept override {
    const LastContext current(context_);
    if (!current) return;
    if (cuda_.event_record(over_, stream_of(stream)) != CUDA_SUCCESS) cuda_.stream_synchronize(stream_of(stream));
  }

  [[nodiscard]] std::byte* half_of(int peer) const noexcept {
    return memory_->peers()[static_cast<std::size_t>(peer)] + half_ * half_bytes_;
  }
  [[nodiscard]] static device_kernels::Reduction reduction(const Call& call, std::size_t bytes, std::byte* out) {
    device_kernels::Reduction reduction;
    reduction.out = out;
    reduction.count = bytes / call.element_bytes();
    reduction.type = call.type;
    reduction.op = call.op;
    return reduction;
  }

  const Cuda& cuda_ = cuda();
  CUcontext context_;
  int rank_;
  std::size_t half_bytes_;
  CUfunction kernel_ = nullptr;
  std::optional<WindowMemory> memory_;
  CUevent written_ = nullptr;  // what this rank has put into its window last
  CUevent over_ = nullptr;     // what it has put into streams last
  std::size_t half_ = 0;
};

/// How an attempt has ended on a rank. Sent as it stands.
struct Attempt {
  std::array<char, 192> failure{};  ///< empty: it has not
  WindowAddress window;
};

/// Carries `attempt` out and writes down how it has failed.
template <class Function>
void note_failure(Attempt& attempt, const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    error.message().copy(attempt.failure.data(), attempt.failure.size() - 1);
  }
}

/// The first failure; empty where there is none.
std::string first_failure(const std::vector<Attempt>& attempts) {
  const auto failed = std::ranges::find_if(attempts, [](const Attempt& it) { return it.failure[0] != '\0'; });
  if (failed == attempts.end()) return {};
  return fmt::format("rank {}: {}", failed - attempts.begin(), failed->failure.data());
}

std::vector<WindowAddress> windows_of(const std::vector<Attempt>& attempts) {
  std::vector<WindowAddress> windows;
  for (const Attempt& attempt : attempts) windows.push_back(attempt.window);
  return windows;
}

}  // namespace

Task<ConnectedWindows> connect_windows(Transport& transport, int device, ProcessId process, std::size_t half_bytes) {
  ConnectedWindows connected;
  if (transport.shared() == nullptr) {
    connected.why_not = "not all ranks share a node's memory";
  } else if (transport.size() > device_kernels::most_inputs) {
    connected.why_not = fmt::format("there are more than {} ranks", device_kernels::most_inputs);
  }
  if (!connected.why_not.empty()) co_return connected;
  std::vector<Attempt> attempts(static_cast<std::size_t>(transport.size()));
  Attempt& mine = attempts[static_cast<std::size_t>(transport.rank())];
  const Bytes table = std::as_writable_bytes(std::span(attempts));
  std::unique_ptr<CudaWindows> windows;
  note_failure(mine, [&] {
    windows = std::make_unique<CudaWindows>(device, process, transport, half_bytes);
    mine.window = windows->memory().address();
  });
  co_await gather_records(transport, table);
  connected.why_not = first_failure(attempts);
  if (connected.why_not.empty()) {
    note_failure(mine, [&] { windows->open(windows_of(attempts)); });
    co_await gather_records(transport, table);
    connected.why_not = first_failure(attempts);
    if (connected.why_not.empty()) {
      connected.windows = std::move(windows);
      co_return connected;
    }
    windows->memory().close();
    co_await gather_records(transport, table);  // nobody frees a window before all have closed it
  }
  if (windows) windows->memory().discard();
  co_return connected;
}

}  // namespace chorus
