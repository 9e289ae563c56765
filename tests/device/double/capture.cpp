// SPDX-License-Identifier: Apache-2.0
#include "capture.hpp"

#include "recorder.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

namespace chorus::test {
namespace doubles {
namespace {

/// Those under way.
std::vector<std::shared_ptr<Capture>>& captures() {
  static auto& all = *new std::vector<std::shared_ptr<Capture>>;
  return all;
}

/// What was captured last, by the stream where it began.
std::map<CUstream, std::shared_ptr<Capture>>& finished() {
  static auto& all = *[] {
    at_clear([] { finished().clear(); });
    return new std::map<CUstream, std::shared_ptr<Capture>>;
  }();
  return all;
}

/// Whether each stream's last operation was waited for by another.
bool is_joined(const Capture& capture) {
  return std::ranges::all_of(capture.progress, [&](const auto& entry) {
    return entry.first == capture.origin || entry.second.joined == entry.second.operations;
  });
}

}  // namespace

void add_to_capture(const std::shared_ptr<Stream>& stream, const Plan& plan) {
  stream->capture->operations.push_back({.stream = stream, .plan = plan});
  ++stream->capture->progress[stream].operations;
}

void join_capture(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Capture>& capture) {
  stream->capture = capture;
  capture->progress[stream];
}

CUstreamCaptureMode& mode_of_this_thread() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

bool refuses_unsafe_calls() {
  if (mode_of_this_thread() == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  bool refuses = false;
  for (const auto& capture : captures()) {
    if (capture->mode != CaptureMode::global) continue;
    capture->invalidated = true;
    refuses = true;
  }
  return refuses;
}

void invalidate_captures(CUcontext context) {
  for (const auto& capture : captures()) {
    if (capture->origin->context == context) capture->invalidated = true;
  }
}

}  // namespace doubles

using namespace doubles;

void begin_capture(CUstream stream, CaptureMode mode) {
  const Lock lock(guard());
  std::shared_ptr<Stream> found;
  if (find_stream("begin_capture", stream, StreamUse::look, found) != CUDA_SUCCESS) return;
  const auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->origin = found;
  join_capture(found, capture);
  captures().push_back(capture);
}

CUresult end_capture(CUstream stream) {
  const Lock lock(guard());
  std::shared_ptr<Stream> found;
  if (const CUresult result = find_stream("end_capture", stream, StreamUse::look, found); result != CUDA_SUCCESS) {
    return result;
  }
  const auto capture = found->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != found) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  capture->ended = true;
  std::erase(captures(), capture);
  for (const auto& [taking_part, progress] : capture->progress) taking_part->capture = nullptr;
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!is_joined(*capture)) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  finished()[stream] = capture;
  return CUDA_SUCCESS;
}

std::size_t replay(CUstream stream) {
  const Lock lock(guard());
  const auto found = finished().find(stream);
  if (found == finished().end()) return 0;
  for (const Captured& operation : found->second->operations) {
    push(operation.stream->destroyed ? found->second->origin : operation.stream, operation.plan());
  }
  return found->second->operations.size();
}

}  // namespace chorus::test
