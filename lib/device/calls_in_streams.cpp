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
  if (driver.is_captured(put.stream)) return;
  CUevent event = nullptr;
  if (free_.empty()) {
    driver.check(driver.event_create(&event, CU_EVENT_DISABLE_TIMING), "make an event");
  } else {
    event = free_.back();
    free_.pop_back();
  }
  entries_.push_back({put, event});
  driver.check(driver.event_record(event, put.stream), "record an event");
}

bool CallsInStreams::is_over(const Entry& entry) noexcept { return !cuda().is_under_way(entry.over); }

void CallsInStreams::forget_oldest() {
  while (!entries_.empty() && is_over(entries_.front())) {
    free_.push_back(entries_.front().over);
    entries_.pop_front();
  }
}

std::optional<CallsInStreams::Put> CallsInStreams::late(Clock::time_point now) {
  forget_oldest();
  for (const Entry& entry : entries_) {
    if (now - entry.put.since >= entry.put.limit && !is_over(entry)) return entry.put;
  }
  return std::nullopt;
}

}  // namespace chorus
