// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/machine.hpp"
#include "base/section.hpp"
#include "task/operation.hpp"
#include "task/task.hpp"
#include "transport/process.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace chorus {

class Transport;

/// A window in each rank's device memory, which the devices of all ranks read; all are on one node. It has two halves:
/// a vector goes in segments, which take them in turn.
///
/// No half is overwritten while others read it: at each segment the hosts of all ranks meet when what they have written
/// is there (`Written`), which comes, in the order of streams, after all that they have read for the segment before. So
/// nobody then reads the half of that one any more, and the next segment may write it.
class PeerWindows {
 public:
  /// Awaited, it goes on when what was written last is in this rank's window.
  class [[nodiscard]] Written final : public PolledEvent {
   public:
    explicit Written(PeerWindows& windows, Where where = Where::here()) noexcept
        : PolledEvent(where), windows_(windows) {}
    [[nodiscard]] std::string what() const override {
      return "waiting for a copy into a window of the device's memory";
    }

   private:
    bool ready() override { return windows_.is_written(); }

    PeerWindows& windows_;
  };

  /// While it lives, a segment is put into `stream`.
  class Segment {
   public:
    Segment(PeerWindows& windows, void* stream) : windows_(windows), stream_(stream) { windows.begin(stream); }
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment() {
      if (!ended_) windows_.give_up(stream_);
    }
    void end() {
      windows_.end(stream_);
      ended_ = true;
    }

   private:
    PeerWindows& windows_;
    void* stream_;
    bool ended_ = false;
  };

  PeerWindows() = default;
  PeerWindows(const PeerWindows&) = delete;
  PeerWindows& operator=(const PeerWindows&) = delete;
  virtual ~PeerWindows() = default;

  /// True where the elements of such a reduction can be joined.
  [[nodiscard]] virtual bool supports(const Call& call) const noexcept = 0;
  [[nodiscard]] virtual std::size_t half_bytes() const noexcept = 0;

  /// Writes this rank's elements into its half, multiplied by `factor` where that is not null.
  virtual void write(const Call& call, const std::byte* in, std::size_t bytes, const void* factor, void* stream) = 0;
  /// True where what was written last, by `write` or `reduce_within`, is there.
  [[nodiscard]] virtual bool is_written() = 0;
  /// Joins what all ranks have in a section of their halves.
  virtual void reduce(const Call& call, const Section& section, std::byte* out, void* stream) = 0;
  /// The same, into the section of this rank's half, which nobody else reads before it `is_written`.
  virtual void reduce_within(const Call& call, const Section& section, void* stream) = 0;
  /// Copies a section of the half of `peer`.
  virtual void read(int peer, const Section& section, std::byte* out, void* stream) = 0;
  /// Has every rank's next segment take the same half, where some have had fewer than others: every rank calls it when
  /// nobody reads or writes a window.
  virtual void take_same_half() noexcept = 0;

 private:
  /// Takes the other half, after what was put into the streams of earlier calls.
  virtual void begin(void* stream) = 0;
  /// Keeps the order to the segments that follow.
  virtual void end(void* stream) = 0;
  /// The same for a segment that has failed: after it nothing reads or writes a window by this rank.
  virtual void give_up(void* stream) noexcept = 0;
};

struct ConnectedWindows {
  std::unique_ptr<PeerWindows> windows;  ///< null on every rank, or on none
  std::string why_not;                   ///< where it is null; the same on every rank
};

/// Makes a window on each rank's device and shows it to the others: every rank calls, and all that can fail is tried
/// and then agreed on. `process` is this rank's; ranks of one process use each other's addresses. `half_bytes`, a
/// multiple of 64, is the same on every rank.
[[nodiscard]] Task<ConnectedWindows> connect_windows(Transport& transport, int device, ProcessId process,
                                                     std::size_t half_bytes = machine::window_half);

}  // namespace chorus
