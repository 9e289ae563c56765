// SPDX-License-Identifier: Apache-2.0
#include "double.hpp"

#include <cuda.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

// The double of CUDA's driver behaves as the documentation of the driver says, and sees what is done wrong.
namespace chorus::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CudaDouble : public testing::Test {
 protected:
  void SetUp() override {
    clear();
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuStreamDestroy(stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    EXPECT_EQ(leaks(), Leaks{});
  }

  /// Device memory with these values.
  static CUdeviceptr with(const std::vector<int>& values) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cuMemAlloc(&made, values.size() * sizeof(int)), CUDA_SUCCESS);
    std::memcpy(device_bytes(made), values.data(), values.size() * sizeof(int));
    return made;
  }
  static int value_at(CUdeviceptr address) {
    int value = 0;
    std::memcpy(&value, device_bytes(address), sizeof value);
    return value;
  }

  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

TEST_F(CudaDouble, is_found_by_the_versioned_names_and_is_the_instance_that_tests_are_linked_with) {
  void* const library = dlopen(std::getenv("CHORUS_CUDA_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const char* const name : {"cuMemAlloc_v2", "cuStreamDestroy_v2", "cuDeviceGetUuid_v2", "cuMemcpy2DAsync_v2"}) {
    EXPECT_NE(dlsym(library, name), nullptr) << name;
  }
  const auto get_version = reinterpret_cast<decltype(&cuDriverGetVersion)>(dlsym(library, "cuDriverGetVersion"));
  set_driver_version(12000);
  int version = 0;
  EXPECT_EQ(get_version(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 12000);
  EXPECT_EQ(calls("cuDriverGetVersion").size(), 1U);
  dlclose(library);
}

TEST_F(CudaDouble, refuses_calls_before_cuInit_and_without_a_context) {
  CUdeviceptr memory = 0;
  std::thread([&] {
    EXPECT_EQ(cuMemAlloc(&memory, 8), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPushCurrent(reinterpret_cast<CUcontext>(64)), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  forget_initialization();
  EXPECT_EQ(cuMemAlloc(&memory, 8), CUDA_ERROR_NOT_INITIALIZED);
  set_device_count(0);
  EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
  set_device_count(2);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(CudaDouble, says_truthfully_what_a_pointer_is) {
  const CUdeviceptr memory = with({1, 2, 3});
  unsigned int type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 4), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  int device = -1;
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* answers[] = {&type, &device, &start, &bytes};
  EXPECT_EQ(cuPointerGetAttributes(4, asked, answers, memory + 4), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(start, memory);
  EXPECT_EQ(bytes, 12U);

  int ordinary = 0;
  const auto unknown = reinterpret_cast<CUdeviceptr>(&ordinary);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttributes(4, asked, answers, unknown), CUDA_SUCCESS);
  EXPECT_EQ(type, 0U);
  void* pinned = nullptr;
  EXPECT_EQ(cuMemHostAlloc(&pinned, 8, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(pinned)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(CudaDouble, has_memory_that_the_host_cannot_read) {
  const CUdeviceptr memory = with({1});
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(static_cast<void>(*reinterpret_cast<volatile int*>(memory)), "");
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(CudaDouble, refuses_copies_beyond_an_allocation_and_what_is_freed_twice) {
  const CUdeviceptr memory = with({1, 2});
  int host[3] = {};
  EXPECT_EQ(cuMemcpyDtoHAsync(host, memory, 12, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoDAsync(memory + 4, host, 8, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(host), host, 8, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoHAsync(host, memory, 4, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("reach beyond the 8 bytes"), HasSubstr("reach beyond"),
                                    HasSubstr("ordinary host memory"), HasSubstr("is not allocated"),
                                    HasSubstr("is not allocated"), HasSubstr("in no allocation of a device")));
}

TEST_F(CudaDouble, reads_and_writes_late) {
  const CUdeviceptr memory = with({1});
  int from = 7;
  int to = 0;
  set_delay(20ms);
  EXPECT_EQ(cuMemcpyHtoDAsync(memory, &from, sizeof from, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync(&to, memory, sizeof to, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(value_at(memory), 1);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_SUCCESS);
  EXPECT_EQ(to, 7);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(CudaDouble, tells_of_memory_freed_under_an_operation) {
  const CUdeviceptr memory = with({1});
  EXPECT_EQ(cuMemsetD8Async(memory, 0, 4, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("while operations that use it are enqueued")));
}

TEST_F(CudaDouble, copies_rows) {
  const CUdeviceptr memory = with({1, 2, 3, 4, 5, 6});
  int to[4] = {};
  CUDA_MEMCPY2D rows = {};
  rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.srcDevice = memory;
  rows.srcPitch = 12;
  rows.srcXInBytes = 4;
  rows.dstMemoryType = CU_MEMORYTYPE_HOST;
  rows.dstHost = to;
  rows.dstPitch = 8;
  rows.WidthInBytes = 8;
  rows.Height = 2;
  EXPECT_EQ(cuMemcpy2DAsync(&rows, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_THAT(to, ElementsAre(2, 3, 5, 6));
  rows.Height = 3;
  EXPECT_EQ(cuMemcpy2DAsync(&rows, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(CudaDouble, orders_streams_by_events_alone) {
  const CUdeviceptr memory = with({1});
  CUstream other = nullptr;
  CUevent event = nullptr;
  EXPECT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  int without = 0;
  int with_event = 0;
  set_delay(10ms);
  for (int wait = 0; wait < 5; ++wait)
    EXPECT_EQ(cuLaunchHostFunc(
                  stream_, [](void*) {}, nullptr),
              CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(memory, 0, 4, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuMemcpyDtoHAsync(&without, memory, 4, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync(&with_event, memory, 4, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(without, 1);
  EXPECT_EQ(with_event, 0);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(CudaDouble, joins_blocking_streams_with_the_legacy_stream) {
  CUstream blocking = nullptr;
  EXPECT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  std::vector<int> order;  // written by one stream after the other
  struct Entry {
    std::vector<int>* to;
    int number;
  } entries[] = {{&order, 0}, {&order, 1}, {&order, 2}};
  const CUhostFn note = [](void* data) {
    const auto* const entry = static_cast<Entry*>(data);
    entry->to->push_back(entry->number);
  };
  EXPECT_EQ(cuLaunchHostFunc(blocking, note, &entries[0]), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(nullptr, note, &entries[1]), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(blocking, note, &entries[2]), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_LEGACY), CUDA_SUCCESS);
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_EQ(cuStreamDestroy(blocking), CUDA_SUCCESS);
}

TEST_F(CudaDouble, tells_of_unknown_handles_and_of_streams_of_other_devices) {
  CUcontext other = nullptr;
  CUevent event = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream_), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(reinterpret_cast<CUstream>(64)), CUDA_ERROR_INVALID_HANDLE);
  CUcontext of_stream = nullptr;
  EXPECT_EQ(cuStreamGetCtx(stream_, &of_stream), CUDA_SUCCESS);
  EXPECT_EQ(of_stream, context_);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("of one device on a stream of another"), HasSubstr("event that is null"),
                                    HasSubstr("stream that is unknown")));
}

TEST_F(CudaDouble, refuses_cuda_in_host_functions) {
  const CUhostFn query = [](void* result) {
    int version = 0;
    *static_cast<CUresult*>(result) = cuDriverGetVersion(&version);
  };
  CUresult result = CUDA_SUCCESS;
  EXPECT_EQ(cuLaunchHostFunc(stream_, query, &result), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("must not call CUDA")));
}

TEST_F(CudaDouble, fails_when_it_is_asked_to_and_records_calls) {
  inject({.function = "cuMemAlloc", .result = CUDA_ERROR_OUT_OF_MEMORY, .device = 0, .nth = 2});
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  set_label("rank 3");
  EXPECT_EQ(cuMemAlloc(&first, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&second, 24), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemFree(first), CUDA_SUCCESS);
  set_label("");
  ASSERT_EQ(calls("cuMemAlloc").size(), 2U);
  EXPECT_EQ(text(calls("cuMemAlloc")[0]), "rank 3: cuMemAlloc on device 0, 16 bytes: 0");
  EXPECT_EQ(calls("cuMemAlloc")[1].result, CUDA_ERROR_OUT_OF_MEMORY);
  const char* name = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_OUT_OF_MEMORY");
}

TEST_F(CudaDouble, counts_what_is_left) {
  const CUdeviceptr memory = with({1});
  CUevent event = nullptr;
  EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  const Leaks expected{.device_allocations = 1, .streams = 1, .events = 1, .retained_contexts = 1};
  EXPECT_EQ(leaks(), expected);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(CudaDouble, captures_and_replays) {
  const CUdeviceptr memory = with({1});
  CUstream forked = nullptr;
  CUevent fork = nullptr;
  CUevent join = nullptr;
  EXPECT_EQ(cuStreamCreate(&forked, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&join, 0), CUDA_SUCCESS);
  begin_capture(stream_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(cuStreamIsCapturing(stream_, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(cuEventRecord(fork, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(forked, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(memory, 0, 4, forked), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(join, forked), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream_, join, 0), CUDA_SUCCESS);
  EXPECT_EQ(end_capture(stream_), CUDA_SUCCESS);
  EXPECT_EQ(value_at(memory), 1);
  EXPECT_EQ(cuEventQuery(join), CUDA_ERROR_CAPTURED_EVENT);
  for (int time = 0; time < 2; ++time) {
    std::memset(device_bytes(memory), 1, 4);
    EXPECT_EQ(replay(stream_), 5U);
    EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(value_at(memory), 0);
  }
  EXPECT_EQ(cuEventDestroy(fork), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(join), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(forked), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(CudaDouble, keeps_captures_apart_from_other_streams) {
  CUstream other = nullptr;
  CUevent outside = nullptr;
  CUevent inside = nullptr;
  EXPECT_EQ(cuStreamCreate(&other, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&outside, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&inside, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(outside, other), CUDA_SUCCESS);
  begin_capture(stream_);
  EXPECT_EQ(cuStreamWaitEvent(stream_, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(end_capture(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin_capture(stream_);
  EXPECT_EQ(cuEventRecord(inside, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(other, inside, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(end_capture(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin_capture(stream_);
  EXPECT_EQ(cuEventRecord(inside, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(other, inside, 0), CUDA_SUCCESS);
  EXPECT_EQ(end_capture(stream_), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(cuEventDestroy(outside), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(inside), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
}

TEST_F(CudaDouble, refuses_to_wait_for_what_is_captured) {
  CUevent event = nullptr;
  EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  begin_capture(stream_);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_capture(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin_capture(stream_);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuMemsetD8Async(0, 0, 4, stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end_capture(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUdeviceptr memory = 0;
  begin_capture(stream_);
  EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_capture(stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin_capture(stream_, CaptureMode::relaxed);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(end_capture(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

}  // namespace
}  // namespace chorus::test
