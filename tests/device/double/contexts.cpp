// SPDX-License-Identifier: Apache-2.0
#include "contexts.hpp"

#include "cuda_call.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <string>

// cuCtx... and cuDevicePrimaryCtx...
namespace chorus::test::doubles {
namespace {

struct Context {
  CUcontext handle = static_cast<CUcontext>(new_handle());
  int retained = 0;
};

constexpr int most_devices = 16;

std::array<Context, most_devices>& contexts() {
  static auto& all = *new std::array<Context, most_devices>;
  return all;
}

Context& context_of(int device) { return contexts().at(static_cast<std::size_t>(device)); }

/// The contexts that a thread has pushed; the last is the current one. Without a destructor: a library may still call
/// while the process ends.
struct ContextStack {
  std::array<CUcontext, 64> pushed = {};
  std::size_t size = 0;

  [[nodiscard]] CUcontext top() const { return size == 0 ? nullptr : pushed.at(size - 1); }
  void push(CUcontext context) { pushed.at(size++) = context; }
};

ContextStack& stack() {
  thread_local ContextStack all;
  return all;
}

/// Objects outlive no context: a real one takes them along.
void tell_survivors(int device) {
  const Leaks& left = living();
  const int objects = left.device_allocations + left.streams + left.events + left.communicators;
  if (left.retained_contexts > 0 || objects == 0) return;
  record_fault("the last context, of device " + std::to_string(device) + ", is released while " +
               std::to_string(objects) + " allocations, streams, events or communicators live");
}

}  // namespace

bool is_device(int device) { return device >= 0 && device < std::ssize(visible_devices()); }

CUcontext primary_context(int device) { return context_of(device).handle; }

int device_of(CUcontext context) {
  for (int device = 0; device < most_devices; ++device) {
    if (context_of(device).handle == context) return context_of(device).retained > 0 ? device : -1;
  }
  return -1;
}

CUcontext current_context() { return stack().top(); }
int current_device() { return device_of(current_context()); }

}  // namespace chorus::test::doubles

using namespace chorus::test::doubles;

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return cuda_call({.function = "cuDevicePrimaryCtxRetain", .device = device}, Needs::initialized, [&](Lock&) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (++context_of(device).retained == 1) ++living().retained_contexts;
    *context = primary_context(device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuda_call({.function = "cuDevicePrimaryCtxRelease", .device = device}, Needs::initialized, [&](Lock&) {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (context_of(device).retained == 0) {
      record_fault("the context of device " + std::to_string(device) + " is released more often than retained");
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (--context_of(device).retained > 0) return CUDA_SUCCESS;
    --living().retained_contexts;
    tell_survivors(device);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return cuda_call({.function = "cuCtxGetCurrent"}, Needs::initialized, [&](Lock&) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return cuda_call({.function = "cuCtxSetCurrent"}, Needs::initialized, [&](Lock&) {
    if (context != nullptr && device_of(context) < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (stack().size > 0) --stack().size;
    if (context != nullptr) stack().push(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  return cuda_call({.function = "cuCtxPushCurrent"}, Needs::initialized, [&](Lock&) {
    if (device_of(context) < 0) return CUDA_ERROR_INVALID_CONTEXT;
    stack().push(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return cuda_call({.function = "cuCtxPopCurrent"}, Needs::initialized, [&](Lock&) {
    if (stack().size == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != nullptr) *context = stack().top();
    --stack().size;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return cuda_call({.function = "cuCtxGetDevice"}, Needs::context, [&](Lock&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = current_device();
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
