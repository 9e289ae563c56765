// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

namespace chorus {

/// How far the host is ahead of what it has put into streams of one device, whose context is the calling thread's. A
/// device takes some 1,024 kernels and events; who puts more waits in the driver until others are over, which those
/// that wait for a lost rank never are.
class StreamDepth {
 public:
  /// So many more are in `stream`, or are to be put there at once. Where that is captured they are counted, and nothing
  /// else.
  void add(CUstream stream, int more);
  /// True while the next might wait: what is some hundreds before it is not over.
  [[nodiscard]] bool is_full() const noexcept;
  /// False where that is known without asking the driver, and in any context.
  [[nodiscard]] bool may_be_full() const noexcept { return mark_ != nullptr && after_mark_ >= to_mark; }
  /// To be called last: gives back what was made.
  void forget() noexcept;

 private:
  static constexpr int to_mark = 256;

  int after_mark_ = 0;
  CUevent mark_ = nullptr;  // in one stream
};

}  // namespace chorus
