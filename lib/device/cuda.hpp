// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace chorus {

/// The entries of the CUDA driver that chorus calls. The driver is loaded when they are first asked for, so that a
/// program without device memory never needs it; its names and their numbers are the same in every release.
struct Cuda {
  decltype(&cuInit) init = nullptr;
  decltype(&cuGetErrorString) get_error_string = nullptr;
  decltype(&cuDeviceGetCount) device_get_count = nullptr;
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDeviceGetName) device_get_name = nullptr;
  decltype(&cuDeviceGetPCIBusId) device_get_pci_bus_id = nullptr;
  decltype(&cuDeviceTotalMem) device_total_mem = nullptr;
  decltype(&cuDeviceGetUuid) device_get_uuid = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) device_primary_ctx_retain = nullptr;
  decltype(&cuCtxGetDevice) ctx_get_device = nullptr;
  decltype(&cuCtxGetCurrent) ctx_get_current = nullptr;
  decltype(&cuCtxSetCurrent) ctx_set_current = nullptr;
  decltype(&cuCtxPushCurrent) ctx_push_current = nullptr;
  decltype(&cuCtxPopCurrent) ctx_pop_current = nullptr;
  decltype(&cuDeviceCanAccessPeer) device_can_access_peer = nullptr;
  decltype(&cuCtxEnablePeerAccess) ctx_enable_peer_access = nullptr;
  decltype(&cuPointerGetAttributes) pointer_get_attributes = nullptr;
  decltype(&cuMemAlloc) mem_alloc = nullptr;
  decltype(&cuMemFree) mem_free = nullptr;
  decltype(&cuMemHostAlloc) mem_host_alloc = nullptr;
  decltype(&cuMemFreeHost) mem_free_host = nullptr;
  decltype(&cuMemAllocAsync) mem_alloc_async = nullptr;
  decltype(&cuMemFreeAsync) mem_free_async = nullptr;
  decltype(&cuMemcpy) memcpy = nullptr;
  decltype(&cuMemcpyHtoDAsync) memcpy_host_to_device_async = nullptr;
  decltype(&cuMemcpyDtoHAsync) memcpy_device_to_host_async = nullptr;
  decltype(&cuMemcpyDtoDAsync) memcpy_device_to_device_async = nullptr;
  decltype(&cuMemcpy2DAsync) memcpy_2d_async = nullptr;
  decltype(&cuStreamCreate) stream_create = nullptr;
  decltype(&cuStreamDestroy) stream_destroy = nullptr;
  decltype(&cuStreamQuery) stream_query = nullptr;
  decltype(&cuStreamSynchronize) stream_synchronize = nullptr;
  decltype(&cuStreamWaitEvent) stream_wait_event = nullptr;
  decltype(&cuStreamIsCapturing) stream_is_capturing = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) thread_exchange_stream_capture_mode = nullptr;
  decltype(&cuEventCreate) event_create = nullptr;
  decltype(&cuEventRecord) event_record = nullptr;
  decltype(&cuEventQuery) event_query = nullptr;
  decltype(&cuEventSynchronize) event_synchronize = nullptr;
  decltype(&cuEventDestroy) event_destroy = nullptr;
  decltype(&cuIpcGetMemHandle) ipc_get_mem_handle = nullptr;
  decltype(&cuIpcOpenMemHandle) ipc_open_mem_handle = nullptr;
  decltype(&cuIpcCloseMemHandle) ipc_close_mem_handle = nullptr;
  decltype(&cuModuleLoadData) module_load_data = nullptr;
  decltype(&cuModuleGetFunction) module_get_function = nullptr;
  decltype(&cuLaunchKernel) launch_kernel = nullptr;

  /// Throws Error{transport} unless `result` is success: `what` was tried.
  void check(CUresult result, const char* what) const;
  /// Whether a query of an event or a stream says that it is over. Throws Error{transport} where it has failed.
  [[nodiscard]] bool is_over(CUresult result) const;
  /// Whether what `event` tells of is not over; nothing is where the device has failed. Disturbs no capture for a
  /// graph, as queries of events do in the modes of capture that are usual.
  [[nodiscard]] bool is_under_way(CUevent event) const noexcept;
  /// Whether what is put into `stream` is kept for a graph, and not carried out.
  [[nodiscard]] bool is_captured(CUstream stream) const;
};

/// The driver's file: what CHORUS_CUDA_LIBRARY names, or where the system has it.
[[nodiscard]] const char* cuda_file() noexcept;
/// Whether there is a driver to be loaded, or the environment names one.
[[nodiscard]] bool cuda_is_expected() noexcept;

/// The driver, which is loaded and initialised.
/// Throws Error{not_supported} where there is none, or no device.
[[nodiscard]] const Cuda& cuda();

/// The primary context of a device, which the CUDA runtime uses; it stays as long as the process.
[[nodiscard]] CUcontext context_of(int device);

/// Where a device is on the PCI bus, as the driver writes it; the instances of one have the same.
[[nodiscard]] std::string bus_id_of(CUdevice device);

[[nodiscard]] inline CUstream stream_of(void* stream) noexcept { return static_cast<CUstream>(stream); }
[[nodiscard]] inline CUdeviceptr address_of(const std::byte* device) noexcept {
  return reinterpret_cast<CUdeviceptr>(device);
}

/// Makes `context` the calling thread's, until it is popped: then the one before is.
void push_context(CUcontext context);
void pop_context() noexcept;

/// Makes `context` the calling thread's until it is destroyed.
class CurrentContext {
 public:
  explicit CurrentContext(CUcontext context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

 private:
  bool pushed_;  ///< it mostly is that already, and to ask takes less than to push and pop
};

/// The same at the end of something, when the driver may have ended with the process: false where it has. What is done
/// meanwhile disturbs no capture for a graph on other streams, as waiting and freeing do in the usual modes.
class LastContext {
 public:
  explicit LastContext(CUcontext context) noexcept;
  LastContext(const LastContext&) = delete;
  LastContext& operator=(const LastContext&) = delete;
  ~LastContext();
  explicit operator bool() const noexcept { return current_; }

 private:
  bool current_;
  CUstreamCaptureMode capture_mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace chorus
