// SPDX-License-Identifier: Apache-2.0
#include "device/calls_in_streams.hpp"

#include "device/cuda.hpp"

#include <algorithm>

namespace chorus {

void CallsInStreams::forget() noexcept {
  for (const Entry& entry : entries_) cuda().event_destroy(entry.over);
  for (CUevent_st* const event : free_) cuda().event_destroy(event);
  entries_.clear();
  free_.clear();
}

CUevent CallsInStreams::take_event() {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      CUevent const event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  cuda().check(cuda().event_create(&event, CU_EVENT_DISABLE_TIMING), "make an event");
  return event;
}

void CallsInStreams::add(const Put& put) {
  if (cuda().is_captured(put.stream)) return;
  CUevent const event = take_event();
  const CUresult recorded = cuda().event_record(event, put.stream);
  const std::scoped_lock lock(mutex_);
  if (recorded != CUDA_SUCCESS) free_.push_back(event);
  cuda().check(recorded, "record an event");
  entries_.push_back({put, event});
}

bool CallsInStreams::is_over(const Entry& entry) noexcept { return !cuda().is_under_way(entry.over); }

void CallsInStreams::forget_oldest() {
  while (!entries_.empty() && is_over(entries_.front())) {
    free_.push_back(entries_.front().over);
    entries_.pop_front();
  }
}

bool CallsInStreams::are_over() {
  const std::scoped_lock lock(mutex_);
  forget_oldest();
  return std::ranges::all_of(entries_, is_over);
}

std::optional<CallsInStreams::Put> CallsInStreams::late(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  forget_oldest();
  for (const Entry& entry : entries_) {
    if (now - entry.put.since >= entry.put.limit && !is_over(entry)) return entry.put;
  }
  return std::nullopt;
}

}  // namespace chorus
