// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/process.hpp"
#include "transport/segment.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace chorus {

/// Where a rank's window is to be found. Sent as it stands.
struct WindowAddress {
  ProcessId process;
  std::uint64_t address = 0;  ///< in its process
  std::int32_t device = 0;    ///< by the number that its process gives it
  CUipcMemHandle handle{};    ///< for other processes
  SegmentAddress segment;     ///< of the word that counts the ranks that have closed it
  std::uint64_t word = 0;     ///< offset there
};

/// This rank's window, and what it has opened of the others'. A window is freed when all ranks have closed it, which
/// need not be when its owner ends: it is then left to those of this process that end or begin later.
class WindowMemory {
 public:
  /// Makes this rank's, `bytes` long, in the context of its device, which is current, for `ranks` ranks.
  /// Throws Error{transport} where the driver cannot, Error{not_supported} where there is no memory of the hosts for
  /// it.
  WindowMemory(CUcontext context, int device, const ProcessId& process, std::size_t bytes, std::size_t ranks);
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;
  /// Closes the others', if `close` has not: what this rank has put into streams must be over.
  ~WindowMemory();

  [[nodiscard]] const WindowAddress& address() const noexcept { return own_; }
  /// Opens those of all ranks, in their order. The context is current.
  /// Throws Error as the constructor does; some may be open then.
  void open(const std::vector<WindowAddress>& all);
  /// Where they lie in this process.
  [[nodiscard]] const std::vector<std::byte*>& peers() const noexcept { return peers_; }
  /// Closes what is open.
  void close() noexcept;
  /// Frees this rank's at once: all ranks have closed it, or have never opened it.
  void discard() noexcept;

 private:
  [[nodiscard]] std::byte* open_one(const WindowAddress& theirs);

  CUcontext context_;
  std::size_t ranks_;
  int process_;  // a child that it forks has none of this open
  WindowAddress own_;
  Segment::Lease lease_;
  std::vector<std::byte*> peers_;
  std::vector<std::byte*> mapped_;                  // of them, those of other processes
  std::vector<std::shared_ptr<Mapping>> mappings_;  // of the words of those that this rank is to close
  std::vector<std::uint64_t> words_;
};

}  // namespace chorus
