// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/section.hpp"

#include <cuda.h>

#include <cstddef>

namespace chorus {

/// Copies `bytes` on the device, in the order of `stream`; the two do not overlap.
void copy_in_stream(std::byte* out, const std::byte* in, std::size_t bytes, CUstream stream);

/// Memory of the current context's device for what is put into `stream` while this lives: it comes and goes in the
/// order of the stream.
class StreamScratch {
 public:
  StreamScratch(std::size_t bytes, CUstream stream);
  /// For a copy of such a section.
  StreamScratch(const Section& section, CUstream stream) : StreamScratch(section.bytes, stream) { section_ = section; }
  StreamScratch(const StreamScratch&) = delete;
  StreamScratch& operator=(const StreamScratch&) = delete;
  ~StreamScratch();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  /// Copies the section of `buffer`; returns where `buffer` would begin in the copy.
  [[nodiscard]] const std::byte* filled_from(const std::byte* buffer) const;
  /// Copies all of it to `out`.
  void copy_to(std::byte* out) const { copy_in_stream(out, data_, section_.bytes, stream_); }

 private:
  Section section_;
  CUstream stream_;
  std::byte* data_ = nullptr;
};

}  // namespace chorus
