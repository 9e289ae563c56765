// SPDX-License-Identifier: Apache-2.0
#include "device/calls_in_streams.hpp"

#include "device/cuda.hpp"

namespace chorus {

void CallsInStreams::forget() noexcept {
  for (const Entry& entry : entries_) cuda().event_destroy(entry.over);
  for (CUevent_st* const event : free_) cuda().event_destroy(event);
  entries_.clear();
  free_.clear();
}

void CallsInStreams::add(const Put& put) {
  const Cuda& driver = cuda();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  driver.check(driver.stream_is_capturing(put.stream, &status), "tell whether a stream is captured");
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) return;
  CUevent event = nullptr;
  if (free_.empty()) {
    driver.check(driver.event_create(&event, CU_EVENT_DISABLE_TIMING), "make an event");
  } else {
    event = free_.back();
    free_.pop_back();
  }
  entries_.push_back({put.call, put.since, event});
  driver.check(driver.event_record(event, put.stream), "record an event");
}

std::optional<Call> CallsInStreams::late(Clock::time_point now, std::chrono::nanoseconds limit) {
  while (!entries_.empty() && cuda().event_query(entries_.front().over) == CUDA_SUCCESS) {
    free_.push_back(entries_.front().over);
    entries_.pop_front();
  }
  if (entries_.empty() || now - entries_.front().since < limit) return std::nullopt;
  return entries_.front().call;
}

}  // namespace chorus
