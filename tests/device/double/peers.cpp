// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include "cuda_call.hpp"
#include "double.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

// cuDeviceCanAccessPeer, cuCtxEnablePeerAccess and cuIpc...
namespace chorus::test {
namespace doubles {
namespace {

/// The pairs of devices of which the first may read the memory of the second.
std::set<std::pair<int, int>>& enabled() {
  static auto& all = *[] {
    at_clear([] { enabled().clear(); });
    return new std::set<std::pair<int, int>>;
  }();
  return all;
}

int& process() {
  thread_local int number = 0;
  return number;
}

/// What is in a CUipcMemHandle.
struct Handle {
  std::uint64_t address = 0;
  unsigned long long number = 0;
  int process = 0;
};

}  // namespace

const char* obstacle(const Allocation& allocation, CUcontext context, int device) {
  if (allocation.on_host) return nullptr;
  if (allocation.original != nullptr) {
    return allocation.context == context ? nullptr : "were opened for another device than the kernel's";
  }
  if (allocation.device == device || enabled().contains({device, allocation.device})) return nullptr;
  return "are of a device that the kernel's may not access";
}

}  // namespace doubles

void set_process(int process) {
  const doubles::Lock lock(doubles::guard());
  doubles::process() = process;
}

void set_peer_access(bool reach) {
  const doubles::Lock lock(doubles::guard());
  doubles::settings().peer_access = reach;
}

}  // namespace chorus::test

using namespace chorus::test::doubles;

extern "C" {

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return cuda_call({.function = "cuDeviceCanAccessPeer", .device = device}, Needs::initialized, [&](Lock&) {
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device) || !is_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer && settings().peer_access ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return cuda_call({.function = "cuCtxEnablePeerAccess"}, Needs::context, [&](Lock&) {
    const std::pair pair(current_device(), device_of(peer));
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (pair.second < 0 || pair.first == pair.second) return CUDA_ERROR_INVALID_DEVICE;
    if (!settings().peer_access) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return enabled().insert(pair).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return cuda_call({.function = "cuIpcGetMemHandle"}, Needs::initialized, [&](Lock&) {
    const auto allocation = allocation_at(address);
    if (handle == nullptr || allocation == nullptr || allocation->address != address) return CUDA_ERROR_INVALID_VALUE;
    if (allocation->on_host || allocation->pooled || allocation->original != nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Handle content = {.address = address, .number = allocation->number, .process = process()};
    *handle = {};
    std::memcpy(handle->reserved, &content, sizeof content);
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned int flags) {
  return cuda_call({.function = "cuIpcOpenMemHandle"}, Needs::context, [&](Lock&) {
    Handle content;
    std::memcpy(&content, handle.reserved, sizeof content);
    const auto allocation = allocation_at(content.address);
    if (address == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    if (allocation == nullptr || allocation->number != content.number) return CUDA_ERROR_INVALID_HANDLE;
    if (content.process == process()) return CUDA_ERROR_INVALID_CONTEXT;  // as a real one
    if (allocation->device != current_device() && !settings().peer_access) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    const std::uintptr_t mapped = map(allocation);
    if (mapped == 0) return CUDA_ERROR_MAP_FAILED;
    ++living().opened_memory;
    *address = mapped;
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return cuda_call({.function = "cuIpcCloseMemHandle"}, Needs::context, [&](Lock&) {
    if (!unmap(address)) {
      record_fault("cuIpcCloseMemHandle of memory that is not open");
      return CUDA_ERROR_INVALID_VALUE;
    }
    --living().opened_memory;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
