// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "device/accelerator.hpp"

#include <cstddef>
#include <vector>

namespace chorus {

/// How many blocks a rank gives or gets at the most in a collective whose blocks are equally long.
[[nodiscard]] std::size_t most_blocks(Collective collective, int ranks) noexcept;

/// A call on device memory as calls on memory of the host, one for each segment.
class Staging {
 public:
  Staging(Accelerator& device, const Transport& transport, const Arguments& arguments);

  /// Where the call is given up before it is over, its stream goes on after the copies that are under way.
  ~Staging() {
    if (!over_) device_.go_before(arguments_.stream);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  [[nodiscard]] int steps() const noexcept { return steps_; }
  /// Starts the copy of what this rank gives in a segment to the host; does nothing where it gives nothing.
  void fetch(int step);
  /// The call on the host for a segment, which is there; its numbers are multiplied where that is asked for. Once.
  [[nodiscard]] Arguments on_host(int step) const;
  /// Starts the copy of what this rank gets to the device.
  void store(int step);
  /// All copies are over.
  void end() noexcept { over_ = true; }

 private:
  /// Some blocks of equal length on the device, a segment of which is in each half on the host. Blocks of different
  /// lengths are one for which the device's memory is mirrored from its beginning on.
  struct Side {
    std::size_t blocks = 0;
    std::byte* device = nullptr;
    std::byte* host = nullptr;  ///< of the first half
    std::size_t half_bytes = 0;

    [[nodiscard]] std::byte* half(int step) const noexcept {
      return host + static_cast<std::size_t>(step % Accelerator::halves) * half_bytes;
    }
  };
  void cut_into_segments(const Transport& transport);
  void mirror(const Transport& transport);
  void place_in_pinned_memory();
  [[nodiscard]] std::size_t segment_bytes(int step) const noexcept;
  [[nodiscard]] Accelerator::Rows rows_of(const Side& side, int step) const noexcept;

  Accelerator& device_;
  Arguments arguments_;
  bool mirrored_ = false;
  bool over_ = false;
  int steps_ = 1;
  std::size_t segment_ = 0;    // bytes of each block, but of the last segment
  std::size_t own_bytes_ = 0;  // of a block that this rank alone gets, where lengths differ
  Side in_;
  Side out_;
};

}  // namespace chorus
