// SPDX-License-Identifier: Apache-2.0
#include "streams.hpp"

#include "capture.hpp"
#include "contexts.hpp"
#include "recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace chorus::test::doubles {
namespace {

using StreamPtr = std::shared_ptr<Stream>;

/// The living streams by handle, without those of the special handles.
std::map<CUstream, StreamPtr>& streams() {
  static auto& all = *new std::map<CUstream, StreamPtr>;
  return all;
}

std::map<int, StreamPtr>& legacy_streams() {
  static auto& all = *new std::map<int, StreamPtr>;
  return all;
}

/// The default streams of each thread that has used them, by device.
std::vector<StreamPtr>& per_thread_streams() {
  static auto& all = *new std::vector<StreamPtr>;
  return all;
}

StreamPtr per_thread_stream(int device) {
  thread_local std::map<int, StreamPtr> own;
  StreamPtr& stream = own[device];
  if (stream == nullptr) per_thread_streams().push_back(stream = make_stream(device, StreamKind::blocking));
  return stream;
}

/// The life of the thread of a stream.
void serve(const StreamPtr& stream) {
  Lock lock(guard());
  thread_label() = stream->name;
  for (;;) {
    stream->given.wait(lock, [&] { return !stream->steps.empty() || stream->destroyed; });
    if (stream->steps.empty()) return;
    Step step = std::move(stream->steps.front());
    stream->steps.pop_front();
    for (const Point& point : step.after) {
      changed().wait(lock, [&] { return point.stream->completed >= point.operations; });
    }
    rest(lock);
    step.work(lock);
    step = {};  // lets go of the memory that it used before it counts as done
    ++stream->completed;
    changed().notify_all();
  }
}

/// Whether the legacy stream is asked for while it would have to wait for a stream that is capturing.
bool would_join_capture(CUcontext context) {
  return std::ranges::any_of(blocking_streams(context), [](const auto& other) { return other->capture != nullptr; });
}

}  // namespace

std::shared_ptr<Stream> make_stream(int device, StreamKind kind) {
  static int numbers = 0;
  const auto stream = std::make_shared<Stream>();
  stream->handle = static_cast<CUstream>(new_handle());
  stream->name = fmt::format("stream {} of device {}", ++numbers, device);
  stream->context = primary_context(device);
  stream->device = device;
  stream->kind = kind;
  std::thread(serve, stream).detach();
  return stream;
}

std::shared_ptr<Stream> legacy_stream(int device) {
  StreamPtr& stream = legacy_streams()[device];
  if (stream == nullptr) stream = make_stream(device, StreamKind::legacy);
  return stream;
}

std::vector<std::shared_ptr<Stream>> blocking_streams(CUcontext context) {
  std::vector<StreamPtr> some;
  const auto take = [&](const StreamPtr& stream) {
    if (stream->kind == StreamKind::blocking && stream->context == context) some.push_back(stream);
  };
  for (const auto& [handle, stream] : streams()) take(stream);
  std::ranges::for_each(per_thread_streams(), take);
  return some;
}

void remember_stream(const std::shared_ptr<Stream>& stream) { streams()[stream->handle] = stream; }

void forget_stream(const std::shared_ptr<Stream>& stream) {
  stream->destroyed = true;
  streams().erase(stream->handle);
  stream->given.notify_one();
}

CUresult find_stream(const std::string& function, CUstream handle, StreamUse use, std::shared_ptr<Stream>& found,
                     int device) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    if (device < 0) device = current_device();
    if (device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    const bool legacy = handle != CU_STREAM_PER_THREAD;
    if (legacy && would_join_capture(primary_context(device))) {
      if (use == StreamUse::work) invalidate_captures(primary_context(device));
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    found = legacy ? legacy_stream(device) : per_thread_stream(device);
  } else if (const auto known = streams().find(handle); known != streams().end()) {
    found = known->second;
  } else {
    record_fault(function + " with a stream that is unknown, or has been destroyed");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const bool invalid = found->capture != nullptr && found->capture->invalidated;
  return invalid && use == StreamUse::work ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

void enqueue(const std::shared_ptr<Stream>& stream, const Plan& plan) {
  if (stream->capture != nullptr) {
    add_to_capture(stream, plan);
  } else {
    push(stream, plan());
  }
}

void push(const std::shared_ptr<Stream>& stream, Work work) {
  std::vector<Point> after;
  if (stream->kind == StreamKind::legacy) {
    for (const StreamPtr& other : blocking_streams(stream->context)) after.push_back({other, other->enqueued});
  } else if (stream->kind == StreamKind::blocking && legacy_streams().contains(stream->device)) {
    const StreamPtr& legacy = legacy_streams()[stream->device];
    after.push_back({legacy, legacy->enqueued});
  }
  stream->steps.push_back({.work = std::move(work), .after = std::move(after)});
  ++stream->enqueued;
  stream->given.notify_one();
}

bool is_idle(const Stream& stream) {
  if (stream.completed < stream.enqueued) return false;
  if (stream.kind != StreamKind::legacy) return true;
  return std::ranges::all_of(blocking_streams(stream.context),
                             [](const auto& other) { return other->completed == other->enqueued; });
}

void drain(Lock& lock, const std::shared_ptr<Stream>& stream) {
  if (stream->kind == StreamKind::legacy && !is_idle(*stream)) push(stream, [](Lock&) {});
  const std::uint64_t all = stream->enqueued;
  changed().wait(lock, [&] { return stream->completed >= all; });
}

}  // namespace chorus::test::doubles
