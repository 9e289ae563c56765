// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/machine.hpp"
#include "device/peer_windows.hpp"
#include "transport/shared_group.hpp"

#include <algorithm>
#include <cstddef>

namespace chorus {

/// The segments of a vector that goes through windows of the devices' memory, one half at a time.
class WindowSegments {
 public:
  WindowSegments(const Call& call, std::size_t half_bytes) noexcept
      : bytes_(call.bytes()), longest_(call.whole_bytes(half_bytes)) {}

  [[nodiscard]] std::size_t count() const noexcept { return (bytes_ + longest_ - 1) / longest_; }
  [[nodiscard]] Section operator[](std::size_t number) const noexcept {
    const std::size_t offset = number * longest_;
    return {offset, std::min(longest_, bytes_ - offset)};
  }

 private:
  std::size_t bytes_;
  std::size_t longest_;
};

/// How many a call has.
[[nodiscard]] inline double segments_of(const Problem& problem) noexcept {
  return static_cast<double>(WindowSegments(problem.call, machine::window_half).count());
}

[[nodiscard]] inline bool has_windows(const Problem& problem) noexcept {
  return problem.call.memory == Memory::device && problem.windows;
}

/// Waits until what this rank has written last is in its window, and the hosts of all ranks say so of theirs.
inline Task<> meet_after_writing(Transport& transport) {
  co_await PeerWindows::Written(*transport.windows());
  co_await transport.shared()->meet();
}

}  // namespace chorus
