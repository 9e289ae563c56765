// SPDX-License-Identifier: Apache-2.0
#include "capture.hpp"
#include "cuda_call.hpp"
#include "streams.hpp"

#include <cuda.h>

#include <utility>

#include <memory>

// cuStream..., but for cuStreamWaitEvent, and cuLaunchHostFunc.
namespace {

using namespace chorus::test::doubles;

/// Finds a stream that the host waits for or asks: of one that is capturing there is nothing to know.
CUresult find_to_ask(const char* function, CUstream handle, std::shared_ptr<Stream>& found) {
  if (const CUresult result = find_stream(function, handle, StreamUse::work, found); result != CUDA_SUCCESS) {
    return result;
  }
  if (found->capture == nullptr) return CUDA_SUCCESS;
  found->capture->invalidated = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUstreamCaptureStatus status_of(const Stream& stream) {
  if (stream.capture == nullptr) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void call_on_host(CUhostFn function, void* data, Lock& lock) {
  lock.unlock();
  in_host_function() = true;
  function(data);
  in_host_function() = false;
  lock.lock();
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return cuda_call({.function = "cuStreamCreate"}, Needs::context, [&](Lock&) {
    if (stream == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto kind = flags == CU_STREAM_NON_BLOCKING ? StreamKind::non_blocking : StreamKind::blocking;
    const auto made = make_stream(current_device(), kind);
    remember_stream(made);
    ++living().streams;
    *stream = made->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy(CUstream stream) {
  return cuda_call({.function = "cuStreamDestroy", .stream = stream}, Needs::initialized, [&](Lock&) {
    if (stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    std::shared_ptr<Stream> found;
    const CUresult result = find_stream("cuStreamDestroy", stream, StreamUse::look, found);
    if (result != CUDA_SUCCESS) return result;
    if (found->capture != nullptr) found->capture->invalidated = true;
    forget_stream(found);
    --living().streams;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return cuda_call({.function = "cuStreamSynchronize", .stream = stream}, Needs::context, [&](Lock& lock) {
    std::shared_ptr<Stream> found;
    const CUresult result = find_to_ask("cuStreamSynchronize", stream, found);
    if (result == CUDA_SUCCESS) drain(lock, found);
    return result;
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return cuda_call({.function = "cuStreamQuery", .stream = stream}, Needs::context, [&](Lock&) {
    std::shared_ptr<Stream> found;
    const CUresult result = find_to_ask("cuStreamQuery", stream, found);
    if (result != CUDA_SUCCESS) return result;
    return is_idle(*found) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return cuda_call({.function = "cuStreamIsCapturing", .stream = stream}, Needs::initialized, [&](Lock&) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Stream> found;
    const CUresult result = find_stream("cuStreamIsCapturing", stream, StreamUse::look, found);
    if (result == CUDA_SUCCESS) *status = status_of(*found);
    return result;
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::swap(mode_of_this_thread(), *mode);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return cuda_call({.function = "cuStreamGetCtx", .stream = stream}, Needs::initialized, [&](Lock&) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Stream> found;
    const CUresult result = find_stream("cuStreamGetCtx", stream, StreamUse::look, found);
    if (result == CUDA_SUCCESS) *context = found->context;
    return result;
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return cuda_call({.function = "cuLaunchHostFunc", .stream = stream}, Needs::context, [&](Lock&) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Stream> found;
    const CUresult result = find_stream("cuLaunchHostFunc", stream, StreamUse::work, found);
    if (result != CUDA_SUCCESS) return result;
    enqueue(found, [=] { return [=](Lock& lock) { call_on_host(function, data, lock); }; });
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
