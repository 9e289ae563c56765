// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/section.hpp"
#include "device/accelerator.hpp"

#include <cstddef>
#include <vector>

namespace chorus {

/// How many blocks a rank gives or gets at the most in a collective whose blocks are equally long.
[[nodiscard]] std::size_t most_blocks(Collective collective, int ranks) noexcept;

/// The bytes of the longest block that this rank gives or gets.
[[nodiscard]] std::size_t longest_block(const Arguments& arguments) noexcept;

/// A call on device memory as calls on memory of the host, one for each segment, which has the same part of each block:
/// of blocks that are shorter it has what is left.
class Staging {
 public:
  Staging(Accelerator& device, const Transport& transport, const Arguments& arguments);

  /// Where the call is given up before it is over, its stream goes on after the copies that are under way.
  ~Staging() {
    if (!over_) device_.go_before(arguments_.stream);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// `longest` is the longest_block of any rank.
  [[nodiscard]] int steps(std::size_t longest) const noexcept;
  /// Starts the copy of what this rank gives in a segment to the host; does nothing where it gives nothing.
  void fetch(int step) { copy(Accelerator::Way::to_host, in_, step); }
  /// The call on the host for a segment, which is there; its numbers are multiplied where that is asked for. Once, and
  /// before the next segment's.
  [[nodiscard]] Arguments on_host(int step);
  /// Starts the copy of what this rank gets to the device.
  void store(int step) { copy(Accelerator::Way::to_device, out_, step); }
  /// All copies are over.
  void end() noexcept { over_ = true; }

 private:
  /// Blocks on the device, of which each half on the host has the pieces of a segment, one behind the other.
  struct Side {
    std::byte* device = nullptr;
    std::vector<Section> blocks = {};
    std::byte* host = nullptr;  ///< of the first half
    std::size_t half_bytes = 0;
  };
  [[nodiscard]] bool lengths_differ() const noexcept { return !arguments_.in_sections.empty(); }
  void take_equal_blocks(const Transport& transport);
  void take_blocks();
  void place_in_pinned_memory();
  /// On the host, for the pieces of this step.
  [[nodiscard]] std::byte* half(const Side& side, int step) const noexcept {
    return side.host + static_cast<std::size_t>(step) % halves_ * side.half_bytes;
  }
  [[nodiscard]] Section piece_of(const Section& block, int step) const noexcept;
  /// Where the pieces lie in a half on the host.
  [[nodiscard]] std::vector<Section> packed(const Side& side, int step) const;
  void copy(Accelerator::Way way, const Side& side, int step);

  Accelerator& device_;
  Arguments arguments_;
  bool over_ = false;
  std::size_t segment_ = 0;  // bytes of each block, but of the last segment
  std::size_t halves_ = 1;   // that this rank's own blocks need
  Side in_;
  Side out_;
  std::vector<Section> in_sections_;  // of the call on the host, where lengths differ
  std::vector<Section> out_sections_;
};

}  // namespace chorus
