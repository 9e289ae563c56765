// SPDX-License-Identifier: Apache-2.0
#include "events.hpp"

#include "capture.hpp"
#include "cuda_call.hpp"

#include <cuda.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

// cuEvent... and cuStreamWaitEvent.
namespace {

using namespace chorus::test::doubles;

struct Event {
  CUcontext context = nullptr;
  std::shared_ptr<Mark> mark = nullptr;  ///< null: not recorded yet
};

std::map<CUevent, Event>& events() {
  static auto& all = *new std::map<CUevent, Event>;
  return all;
}

/// The event that `handle` means, or null, and then a fault.
Event* find_event(const std::string& function, CUevent handle) {
  const auto found = events().find(handle);
  if (found != events().end()) return &found->second;
  record_fault(function + " with an event that is null, unknown, or has been destroyed");
  return nullptr;
}

/// Why the host may not ask for `event`, or CUDA_SUCCESS.
CUresult may_ask(const Event& event) {
  if (event.mark != nullptr && event.mark->captured) return CUDA_ERROR_CAPTURED_EVENT;
  return refuses_unsafe_calls() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

bool is_reached(const Event& event) { return event.mark == nullptr || event.mark->reached; }

void record_event(Event& event, const std::shared_ptr<Stream>& stream) {
  const auto mark = event.mark = std::make_shared<Mark>();
  enqueue(stream, [mark] {
    mark->reached = false;
    return [mark](Lock&) { mark->reached = true; };
  });
  if (stream->capture == nullptr) return;
  mark->captured = true;
  mark->capture = stream->capture;
  mark->stream = stream;
  mark->operations = stream->capture->progress[stream].operations;
}

/// Takes care that what `mark` ends is captured together with what `stream` does next, or not at all.
CUresult meet_capture(const Mark& mark, const std::shared_ptr<Stream>& stream) {
  if (!mark.captured) {
    if (stream->capture == nullptr) return CUDA_SUCCESS;
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  const auto capture = mark.capture.lock();
  if (capture == nullptr || capture->ended) return CUDA_ERROR_CAPTURED_EVENT;
  if (stream->capture == nullptr) join_capture(stream, capture);
  if (stream->capture != capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  auto& joined = capture->progress[mark.stream].joined;
  if (stream != mark.stream) joined = std::max(joined, mark.operations);
  return CUDA_SUCCESS;
}

CUresult wait_for(const std::shared_ptr<Mark>& mark, const std::shared_ptr<Stream>& stream) {
  const CUresult result = meet_capture(*mark, stream);
  if (result != CUDA_SUCCESS) return result;
  enqueue(stream, [mark] { return [mark](Lock& lock) { changed().wait(lock, [&] { return mark->reached; }); }; });
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return cuda_call({.function = "cuEventCreate"}, Needs::context, [&](Lock&) {
    constexpr unsigned int all = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (event == nullptr || (flags & ~all) != 0) return CUDA_ERROR_INVALID_VALUE;
    *event = static_cast<CUevent>(new_handle());
    events()[*event] = {.context = current_context()};
    ++living().events;
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy(CUevent event) {
  return cuda_call({.function = "cuEventDestroy"}, Needs::initialized, [&](Lock&) {
    if (find_event("cuEventDestroy", event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    events().erase(event);
    --living().events;
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return cuda_call({.function = "cuEventRecord", .stream = stream}, Needs::context, [&](Lock&) {
    Event* const found = find_event("cuEventRecord", event);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    std::shared_ptr<Stream> on;
    if (const CUresult result = find_stream("cuEventRecord", stream, StreamUse::work, on); result != CUDA_SUCCESS) {
      return result;
    }
    if (on->context != found->context) {
      record_fault("cuEventRecord of an event of one device on a stream of another");
      return CUDA_ERROR_INVALID_HANDLE;
    }
    record_event(*found, on);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent event) {
  return cuda_call({.function = "cuEventQuery"}, Needs::initialized, [&](Lock&) {
    const Event* const found = find_event("cuEventQuery", event);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult result = may_ask(*found); result != CUDA_SUCCESS) return result;
    return is_reached(*found) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return cuda_call({.function = "cuEventSynchronize"}, Needs::initialized, [&](Lock& lock) {
    const Event* const found = find_event("cuEventSynchronize", event);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult result = may_ask(*found); result != CUDA_SUCCESS) return result;
    // As it is now: the event may be recorded anew, or destroyed, meanwhile.
    changed().wait(lock, [now = *found] { return is_reached(now); });
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return cuda_call({.function = "cuStreamWaitEvent", .stream = stream}, Needs::context, [&](Lock&) {
    const Event* const found = find_event("cuStreamWaitEvent", event);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Stream> on;
    const CUresult result = find_stream("cuStreamWaitEvent", stream, StreamUse::work, on);
    return result == CUDA_SUCCESS && found->mark != nullptr ? wait_for(found->mark, on) : result;
  });
}

}  // extern "C"
