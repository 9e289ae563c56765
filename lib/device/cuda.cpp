// SPDX-License-Identifier: Apache-2.0
#include "device/cuda.hpp"

#include "base/shared_object.hpp"
#include "device/device_memory.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>

namespace chorus {
namespace {

constexpr const char* cuda_variable = "CHORUS_CUDA_LIBRARY";
constexpr const char* library_name = "libcuda.so.1";

const char* text_of(const Cuda& cuda, CUresult result) {
  const char* text = nullptr;
  return cuda.get_error_string(result, &text) == CUDA_SUCCESS && text != nullptr ? text : "unknown error";
}

Cuda load() {
  const SharedObject library(cuda_file(), cuda_variable, "memory of a GPU");
  Cuda cuda;
  library.find(cuda.init, "cuInit");
  library.find(cuda.get_error_string, "cuGetErrorString");
  library.find(cuda.device_get_count, "cuDeviceGetCount");
  library.find(cuda.device_get, "cuDeviceGet");
  library.find(cuda.device_get_name, "cuDeviceGetName");
  library.find(cuda.device_get_pci_bus_id, "cuDeviceGetPCIBusId");
  library.find(cuda.device_total_mem, "cuDeviceTotalMem_v2");
  library.find(cuda.device_get_uuid, "cuDeviceGetUuid_v2");
  library.find(cuda.device_primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  library.find(cuda.ctx_get_device, "cuCtxGetDevice");
  library.find(cuda.ctx_get_current, "cuCtxGetCurrent");
  library.find(cuda.ctx_set_current, "cuCtxSetCurrent");
  library.find(cuda.ctx_push_current, "cuCtxPushCurrent_v2");
  library.find(cuda.ctx_pop_current, "cuCtxPopCurrent_v2");
  library.find(cuda.device_can_access_peer, "cuDeviceCanAccessPeer");
  library.find(cuda.ctx_enable_peer_access, "cuCtxEnablePeerAccess");
  library.find(cuda.pointer_get_attributes, "cuPointerGetAttributes");
  library.find(cuda.mem_alloc, "cuMemAlloc_v2");
  library.find(cuda.mem_free, "cuMemFree_v2");
  library.find(cuda.mem_host_alloc, "cuMemHostAlloc");
  library.find(cuda.mem_free_host, "cuMemFreeHost");
  library.find(cuda.mem_alloc_async, "cuMemAllocAsync");
  library.find(cuda.mem_free_async, "cuMemFreeAsync");
  library.find(cuda.memcpy, "cuMemcpy");
  library.find(cuda.memcpy_host_to_device_async, "cuMemcpyHtoDAsync_v2");
  library.find(cuda.memcpy_device_to_host_async, "cuMemcpyDtoHAsync_v2");
  library.find(cuda.memcpy_device_to_device_async, "cuMemcpyDtoDAsync_v2");
  library.find(cuda.memcpy_2d_async, "cuMemcpy2DAsync_v2");
  library.find(cuda.stream_create, "cuStreamCreate");
  library.find(cuda.stream_destroy, "cuStreamDestroy_v2");
  library.find(cuda.stream_query, "cuStreamQuery");
  library.find(cuda.stream_synchronize, "cuStreamSynchronize");
  library.find(cuda.stream_wait_event, "cuStreamWaitEvent");
  library.find(cuda.stream_is_capturing, "cuStreamIsCapturing");
  library.find(cuda.thread_exchange_stream_capture_mode, "cuThreadExchangeStreamCaptureMode");
  library.find(cuda.event_create, "cuEventCreate");
  library.find(cuda.event_record, "cuEventRecord");
  library.find(cuda.event_query, "cuEventQuery");
  library.find(cuda.event_synchronize, "cuEventSynchronize");
  library.find(cuda.event_destroy, "cuEventDestroy_v2");
  library.find(cuda.ipc_get_mem_handle, "cuIpcGetMemHandle");
  library.find(cuda.ipc_open_mem_handle, "cuIpcOpenMemHandle_v2");
  library.find(cuda.ipc_close_mem_handle, "cuIpcCloseMemHandle");
  library.find(cuda.module_load_data, "cuModuleLoadData");
  library.find(cuda.module_get_function, "cuModuleGetFunction");
  library.find(cuda.launch_kernel, "cuLaunchKernel");
  const CUresult result = cuda.init(0);
  if (result == CUDA_SUCCESS) {
    process_uses_cuda.store(true, std::memory_order_relaxed);
    return cuda;
  }
  throw Error(ErrorCode::not_supported,
              fmt::format("the CUDA driver does not start ({}); see whether nvidia-smi lists a device, and what "
                          "CUDA_VISIBLE_DEVICES leaves",
                          text_of(cuda, result)));
}

}  // namespace

void Cuda::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return;
  throw Error(ErrorCode::transport, fmt::format("CUDA cannot {}: {}", what, text_of(*this, result)));
}

bool Cuda::is_over(CUresult result) const {
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "carry out what was put into a stream");
  return true;
}

bool Cuda::is_under_way(CUevent event) const noexcept {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  thread_exchange_stream_capture_mode(&mode);
  const CUresult result = event_query(event);
  thread_exchange_stream_capture_mode(&mode);  // as it was
  return result == CUDA_ERROR_NOT_READY;
}

bool Cuda::is_captured(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = stream_is_capturing(stream, &status);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
    throw Error(ErrorCode::not_supported,
                "the default stream may not be used while another one is captured; pass a stream of your own");
  }
  check(result, "tell whether a stream is captured");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

const char* cuda_file() noexcept { return SharedObject::file(cuda_variable, library_name); }

bool cuda_is_expected() noexcept {
  if (cuda_file() != library_name) return true;  // the environment names one
  void* const handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

const Cuda& cuda() {
  static const Cuda entries = load();
  return entries;
}

CUcontext context_of(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<int, CUcontext>;  // each is retained once
  const std::scoped_lock lock(*mutex);
  CUcontext& context = (*known)[device];
  if (context != nullptr) return context;
  CUdevice handle = 0;
  cuda().check(cuda().device_get(&handle, device), "find the device");
  cuda().check(cuda().device_primary_ctx_retain(&context, handle), "get the device's context");
  return context;
}

std::string bus_id_of(CUdevice device) {
  std::array<char, 32> text{};
  cuda().check(cuda().device_get_pci_bus_id(text.data(), static_cast<int>(text.size()), device),
               "tell where a device is");
  return text.data();
}

void push_context(CUcontext context) {
  cuda().check(cuda().ctx_push_current(context), "make the device's context current");
}

void pop_context() noexcept {
  CUcontext ours = nullptr;
  cuda().ctx_pop_current(&ours);
}

CurrentContext::CurrentContext(CUcontext context) : pushed_(false) {
  CUcontext current = nullptr;
  if (cuda().ctx_get_current(&current) == CUDA_SUCCESS && current == context) return;
  push_context(context);
  pushed_ = true;
}

CurrentContext::~CurrentContext() {
  if (pushed_) pop_context();
}

LastContext::LastContext(CUcontext context) noexcept : current_(cuda().ctx_push_current(context) == CUDA_SUCCESS) {
  if (current_) cuda().thread_exchange_stream_capture_mode(&capture_mode_);
}

LastContext::~LastContext() {
  if (!current_) return;
  cuda().thread_exchange_stream_capture_mode(&capture_mode_);  // as it was
  pop_context();
}

}  // namespace chorus
