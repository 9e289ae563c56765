// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "task/operation.hpp"
#include "transport/native.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace chorus {

/// The vendor's own collectives on the memory of devices (NCCL's) over the ranks of a transport: calls are put into
/// streams, and the host does not wait for other ranks.
class DeviceNative {
 public:
  /// Awaited, it goes on when the ranks are connected, and what was begun is in its stream.
  class [[nodiscard]] Connected final : public PolledEvent {
   public:
    explicit Connected(DeviceNative& native, Where where = Where::here()) noexcept
        : PolledEvent(where), native_(native) {}
    [[nodiscard]] std::string what() const override { return "waiting for NCCL to connect the ranks"; }

   private:
    bool ready() override { return native_.is_ready(); }

    DeviceNative& native_;
  };

  DeviceNative() = default;
  DeviceNative(const DeviceNative&) = delete;
  DeviceNative& operator=(const DeviceNative&) = delete;
  virtual ~DeviceNative() = default;

  /// True where the vendor can carry out `call`.
  [[nodiscard]] virtual bool supports(const Call& call) const noexcept = 0;
  /// A call for a stream. For those who wait for the stream by themselves a thread of the process ends what is under
  /// way where the vendor has failed, or where a call with a `limit` is not over so long after it was put there, or was
  /// on its way there so long. The next call then throws Error{transport} or Error{timeout}, and so do `is_ready` and a
  /// call that was on its way.
  struct Put {
    Call call;
    Native::Buffers buffers;
    const void* factor = nullptr;  ///< an element that those of a sum are multiplied by before, or null
    void* stream = nullptr;
    std::chrono::nanoseconds limit{};  ///< 0: none
  };
  /// True of the first calls of a kind and length, and of those far ahead of the device: they may wait inside the
  /// vendor's library until all ranks have come. They are begun, where others are queued.
  [[nodiscard]] virtual bool may_wait(const Put& put) const = 0;
  /// Puts it into its stream on another thread; to be followed by Connected.
  virtual void begin(const Put& put) = 0;
  /// Puts it into its stream.
  virtual void queue(const Put& put) = 0;
  /// True where nobody is waited for. Throws Error{transport} where the vendor has failed, maybe in a call that is in
  /// its stream.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// Until this ends that thread calls `look` now and then, too: where it throws, what is under way is ended, and the
  /// next call throws the same. It calls `failed` before it ends something.
  virtual void watch_others(std::function<void()> look, std::function<void()> failed) = 0;
  /// Waits until calls with limits are over, or have been ended.
  virtual void settle() noexcept = 0;
  /// Ends what is under way on the device, whose results are unspecified; streams go on. No call may follow.
  virtual void abandon() noexcept = 0;
  /// That of the ranks that give the same color, in the order of `key`; one that is never used where this rank gives no
  /// color. Every rank calls; to be followed by Connected of the new one, until when this one is not used.
  [[nodiscard]] virtual std::unique_ptr<DeviceNative> split(std::optional<int> color, int key) = 0;
};

}  // namespace chorus
