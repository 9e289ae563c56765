// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/kernels.hpp"
#include "transport/pace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace chorus {

/// Which of two ways of writing is faster, found out while writing: cores near each other prefer plain stores, distant
/// ones streamed stores, several times in either case, and the system may move a rank, or its machine, at any time.
/// The way in use is timed always, the other one now and then; the median of three writes counts, so that neither an
/// interruption nor a slot that happened to lie in a cache decides. Plain stores may take longer than streamed ones, as
/// who reads these has to fetch them from memory.
class FasterWay {
 public:
  /// To begin with.
  void set(kernels::Store way) noexcept { now_ = way; }
  [[nodiscard]] kernels::Store now() const noexcept { return now_; }

  /// The way to try the next write by.
  [[nodiscard]] kernels::Store next() noexcept;
  /// What a write by `way` has taken, per byte.
  void took(kernels::Store way, double time) noexcept;

 private:
  static constexpr std::uint32_t samples = 3;
  static constexpr std::uint32_t from_look_to_look = 768;  ///< writes
  static constexpr std::uint32_t first_look = 8;
  // How many times as long plain stores may take: to be taken up, and before they are given up.
  static constexpr double to_begin_with_plain = 2;
  static constexpr double to_stay_with_plain = 3;

  struct Times {
    std::array<double, samples> last{};
    std::uint32_t count = 0;
    [[nodiscard]] double median() const noexcept;
  };
  [[nodiscard]] static constexpr kernels::Store other(kernels::Store way) noexcept {
    return way == kernels::Store::cached ? kernels::Store::streamed : kernels::Store::cached;
  }
  [[nodiscard]] Times& times(kernels::Store way) noexcept { return times_[static_cast<std::size_t>(way)]; }

  kernels::Store now_ = kernels::Store::streamed;
  std::uint32_t writes_ = 0;
  std::array<Times, 2> times_;
};

/// Writes data into the slots of a rank.
class SlotWriter {
 public:
  /// Begins with what was measured, or with streamed stores where nothing was.
  void set_pace(const Pace& pace) noexcept {
    way_.set(pace.cached > pace.streamed ? kernels::Store::cached : kernels::Store::streamed);
  }
  /// Copies `bytes` from `data` to `place`, which others read.
  void write(std::byte* place, const std::byte* data, std::size_t bytes) {
    kernels::copy(place, data, bytes, bytes < streaming_from ? kernels::Store::cached : way_.now());
  }
  /// The same for much data, after which it may write in the other way.
  void write_timed(std::byte* place, const std::byte* data, std::size_t bytes);

  /// Below this many bytes plain stores are faster than streamed ones, or lose little.
  static constexpr std::size_t streaming_from = 4096;
  /// From this many bytes on the clock costs next to nothing, and buffers of the processor do not hide what a write
  /// takes.
  static constexpr std::size_t timed_from = std::size_t{32} * 1024;

 private:
  FasterWay way_;
};

}  // namespace chorus
