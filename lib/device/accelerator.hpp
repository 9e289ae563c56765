// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"
#include "task/operation.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace chorus {

/// The device of one rank, as the host reaches it: copies between its memory and pinned memory of the host, two at a
/// time each way, on streams of their own.
class Accelerator {
 public:
  enum class Way { to_host, to_device };
  static constexpr int halves = 2;

  /// Rows of equal length, which lie one after another in the host's memory, and at a distance on the device.
  struct Rows {
    std::size_t count = 1;
    std::size_t bytes = 0;
    std::size_t distance = 0;  ///< from the beginning of one to that of the next, on the device
  };

  /// Awaited, it goes on when a copy is over.
  class [[nodiscard]] Copied final : public PolledEvent {
   public:
    Copied(Accelerator& accelerator, Way way, int half, Where where = Where::here()) noexcept
        : PolledEvent(where), accelerator_(accelerator), way_(way), half_(half) {}
    [[nodiscard]] std::string what() const override { return "waiting for a copy to or from the device"; }

   private:
    bool ready() override { return accelerator_.is_over(way_, half_); }

    Accelerator& accelerator_;
    Way way_;
    int half_;
  };

  Accelerator() = default;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;
  virtual ~Accelerator() = default;

  /// The number that the driver gives the device in this process.
  [[nodiscard]] virtual int device() const noexcept = 0;
  /// Pinned memory of this rank, which no copy under way may use; what was in it is lost where it has to grow.
  [[nodiscard]] virtual Bytes pinned(std::size_t bytes) = 0;
  /// The copies that follow come after what is in `stream`, which is not being captured.
  virtual void come_after(void* stream) = 0;
  /// What is put into `stream` from here on comes after the copies.
  virtual void go_before(void* stream) noexcept = 0;
  /// Starts a copy; that of the same way and half before it is over.
  virtual void copy(Way way, int half, std::byte* host, std::byte* device, const Rows& rows) = 0;
  /// True where the last copy of that way and half is over, or there was none.
  [[nodiscard]] virtual bool is_over(Way way, int half) = 0;
  /// True where what is in `stream` is done.
  [[nodiscard]] virtual bool is_done(void* stream) = 0;
  /// True where the calls put into `stream` are recorded for a graph.
  [[nodiscard]] virtual bool is_captured(void* stream) = 0;

  /// That of the device with this number.
  [[nodiscard]] static std::unique_ptr<Accelerator> of(int device);
};

}  // namespace chorus
