// SPDX-License-Identifier: Apache-2.0
#include "device_call.hpp"

#include "base/call.hpp"
#include "device/accelerator.hpp"
#include "device/device_memory.hpp"
#include "device/device_native.hpp"
#include "door.hpp"

#include <chorus/communicator.hpp>
#include <chorus/device_span.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace chorus {
namespace {

using detail::CommunicatorState;
using detail::Refusal;

/// What cudaStreamPerThread is.
void* const per_thread_stream = reinterpret_cast<void*>(std::uintptr_t{2});

[[noreturn]] void refuse_capture(const char* remedy) {
  throw Refusal(ErrorCode::not_supported, fmt::format("argument stream is captured for a graph; {}", remedy));
}

/// Goes on when a stream is done; hears of the vendor's failures meanwhile, by which it may be done, too.
class StreamDone final : public PolledEvent {
 public:
  StreamDone(Transport& transport, void* stream, Where where = Where::here()) noexcept
      : PolledEvent(where), transport_(transport), stream_(stream) {}
  [[nodiscard]] std::string what() const override { return "waiting for a stream of the device"; }

 private:
  bool ready() override {
    DeviceNative* const native = transport_.device_native();
    const bool done = transport_.accelerator()->is_done(stream_);
    return (native == nullptr || native->is_ready()) && done;
  }

  Transport& transport_;
  void* stream_;
};

Task<> wait_for(Transport& transport, void* stream) { co_await StreamDone(transport, stream); }

/// Where that cannot be told nothing has begun yet.
bool is_captured(Accelerator& accelerator, void* stream) try {
  return accelerator.is_captured(stream);
} catch (const Error& error) {
  throw Refusal(error);
}

/// The device whose memory `argument` is; `expected` as for device_of.
int device_at(const CommunicatorState& state, Collective collective, const void* data, const char* argument,
              int expected) {
  int device = -1;
  try {
    device = device_of(data, expected);
  } catch (const Error& error) {  // there is no driver, say
    reject(state, collective, error.message(), error.code());
  }
  if (device >= 0) return device;
  reject(state, collective,
         fmt::format("argument {} is no memory of a device; pass what cudaMalloc has given, or a std::span for memory "
                     "of the host",
                     argument));
}

/// `argument` is memory of another device than that of the calls before, or than argument in of this one.
[[noreturn]] void reject_device(const CommunicatorState& state, Collective collective, const char* argument, int place,
                                int device, bool before) {
  if (!before) {
    reject(state, collective,
           fmt::format("argument {} is memory of device {} and argument in of device {}; pass memory of one device",
                       argument, place, device));
  }
  reject(state, collective,
         fmt::format("argument {} is memory of device {}, and that of the calls before on this communicator of device "
                     "{}; for other devices keep another communicator, made by dup before the first call with device "
                     "memory",
                     argument, place, device));
}

}  // namespace

void check_host(const CommunicatorState& state, Collective collective, const void* data, const char* argument) {
  if (!is_device_only(data)) return;
  const bool has_form =
      collective != Collective::alltoallw && collective != Collective::scan && collective != Collective::exscan;
  reject(state, collective,
         fmt::format("argument {} is memory of a device; {}", argument,
                     has_form ? "pass a chorus::DeviceSpan and a chorus::Stream"
                              : "this collective takes memory of the host alone, so copy it there"));
}

void check_place(const CommunicatorState& state, const detail::Buffers& buffers, Used used, Arguments& arguments) {
  const Collective collective = arguments.call.collective;
  const Accelerator* const known = state.transport().accelerator();
  const int before = known != nullptr ? known->device() : -1;
  int device = before;
  const auto check = [&](const void* data, std::size_t count, const char* argument) {
    if (data == nullptr || count == 0) return;
    if (buffers.stream == nullptr) return check_host(state, collective, data, argument);
    const int place = device_at(state, collective, data, argument, before);
    if (device >= 0 && place != device) reject_device(state, collective, argument, place, device, before >= 0);
    device = place;
  };
  const bool one = buffers.in == buffers.out;
  if (used.in) check(buffers.in, buffers.in_count, one ? "data" : "in");
  if (used.out && !(one && used.in)) check(buffers.out, buffers.out_count, one ? "data" : "out");
  arguments.device = device;
  if (buffers.stream == nullptr) return;
  arguments.call.memory = Memory::device;
  arguments.stream = buffers.stream->native();
}

bool prepare_device(CommunicatorState& state, const Arguments& arguments) {
  const Call& call = arguments.call;
  if (call.count == 0 && !counts_differ(call.collective)) return false;
  if (state.transport().accelerator() != nullptr) return true;
  auto own = Accelerator::of(arguments.device >= 0 ? arguments.device : current_device());
  if (is_captured(*own, arguments.stream)) {
    refuse_capture("make the first call with device memory on this communicator, which connects the devices, before");
  }
  state.drive(state.find_devices(call, std::move(own)));
  return true;
}

void check_stream(const CommunicatorState& state, const Algorithm& algorithm, const Arguments& arguments) {
  if (algorithm.queues() && arguments.stream == per_thread_stream) {
    throw Refusal(ErrorCode::not_supported,
                  "argument stream is CUDA's per-thread stream, which means another one in the threads of NCCL; make a "
                  "stream by cudaStreamCreate");
  }
  if (!algorithm.queues() && is_captured(*state.transport().accelerator(), arguments.stream)) {
    refuse_capture("this call passes through the host, which waits for what it puts into the stream");
  }
}

void synchronize(const Communicator& comm, Stream stream) {
  CommunicatorState& state = comm.state();
  const Call call{.collective = awaiting_stream, .memory = Memory::device};
  const Entrance::Visit visit = state.visit(call);
  state.check_whole(call);
  try {
    state.prepare({});
    Accelerator* const accelerator = state.transport().accelerator();
    if (!state.ready() || accelerator == nullptr) return;
    if (is_captured(*accelerator, stream.native())) refuse_capture("end the capture before");
    state.drive(wait_for(state.transport(), stream.native()));
  } catch (...) {
    state.fail(call);
  }
}

}  // namespace chorus
