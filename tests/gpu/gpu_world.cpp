// SPDX-License-Identifier: Apache-2.0
// The machine's own devices.
#include "device/device_world.hpp"
#include "device/test_memory.hpp"

#include <gtest/gtest.h>

namespace chorus::test {

void begin_world() { check(cuInit(0)); }

void enter_world(int /*rank*/) {}

void end_world() {
  int count = 0;
  check(cuDeviceGetCount(&count));
  for (int number = 0; number < count; ++number) {
    CUdevice device = 0;
    check(cuDeviceGet(&device, number));
    CUcontext context = nullptr, ours = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxPushCurrent(context));
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS) << "a kernel or a copy has failed on device " << number;
    check(cuCtxPopCurrent(&ours));
  }
}

}  // namespace chorus::test
