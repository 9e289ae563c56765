// SPDX-License-Identifier: Apache-2.0
#include "device/stream_depth.hpp"

#include "device/cuda.hpp"

namespace chorus {

void StreamDepth::add(CUstream stream, int more) {
  after_mark_ += more;
  if (after_mark_ < to_mark || is_full()) return;
  const Cuda& driver = cuda();
  if (driver.is_captured(stream)) return;
  if (mark_ == nullptr) driver.check(driver.event_create(&mark_, CU_EVENT_DISABLE_TIMING), "make an event");
  driver.check(driver.event_record(mark_, stream), "record an event");
  after_mark_ = 0;
}

bool StreamDepth::is_full() const noexcept { return may_be_full() && cuda().is_under_way(mark_); }

void StreamDepth::forget() noexcept {
  if (mark_ != nullptr) cuda().event_destroy(mark_);
  mark_ = nullptr;
}

}  // namespace chorus
