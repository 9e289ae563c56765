// SPDX-License-Identifier: Apache-2.0
// The double's kernels, and memory that devices and processes share.
#include "double.hpp"

#include "device/kernels/reduce_elements.hpp"

#include <cuda.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int devices = 2;

/// Two devices; the first is the current one.
class KernelsDouble : public testing::Test {
 protected:
  void SetUp() override {
    clear();
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    for (int device = 0; device < devices; ++device) {
      ASSERT_EQ(cuDevicePrimaryCtxRetain(&contexts_[device], device), CUDA_SUCCESS);
    }
    ASSERT_EQ(cuCtxSetCurrent(contexts_[0]), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, &image), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&kernel_, module_, device_kernels::reduce_name), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    for (int device = 0; device < devices; ++device) EXPECT_EQ(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
    set_process(0);
    EXPECT_EQ(leaks(), Leaks{});
  }

  /// Memory of a device with these values.
  CUdeviceptr with(const std::vector<int>& values, int device = 0) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cuCtxPushCurrent(contexts_[device]), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&made, values.size() * sizeof(int)), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
    std::memcpy(device_bytes(made), values.data(), values.size() * sizeof(int));
    return made;
  }
  static std::vector<int> values(CUdeviceptr address, std::size_t count) {
    std::vector<int> all(count);
    std::memcpy(all.data(), device_bytes(address), count * sizeof(int));
    return all;
  }
  /// Launches the sum of two vectors.
  CUresult add(CUdeviceptr out, CUdeviceptr left, CUdeviceptr right, std::size_t count, unsigned blocks = 1,
               unsigned threads = 32) const {
    device_kernels::Reduction reduction;
    reduction.out = reinterpret_cast<void*>(out);
    reduction.inputs[0] = reinterpret_cast<const void*>(left);
    reduction.inputs[1] = reinterpret_cast<const void*>(right);
    reduction.count = count;
    reduction.ranks = 2;
    reduction.type = DataType::int32;
    void* parameters[] = {&reduction};
    return cuLaunchKernel(kernel_, blocks, 1, 1, threads, 1, 1, 0, stream_, parameters, nullptr);
  }

  static constexpr std::uint64_t image = 0xBA55ED50;
  CUcontext contexts_[devices] = {};
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
};

TEST_F(KernelsDouble, RunsAKernelInTheOrderOfItsStream) {
  const CUdeviceptr left = with({1, 2, 3}), right = with({10, 20, 30}), out = with({0, 0, 0});
  ASSERT_EQ(add(out, left, right, 3), CUDA_SUCCESS);
  ASSERT_EQ(add(out, out, right, 3, 2, 1), CUDA_SUCCESS);
  EXPECT_THAT(values(out, 3), ElementsAre(0, 0, 0)) << "nothing happens at once";
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_THAT(values(out, 3), ElementsAre(21, 42, 63));
  EXPECT_THAT(faults(), IsEmpty());
  for (const CUdeviceptr memory : {left, right, out}) EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(KernelsDouble, RefusesWhatDevicesRefuse) {
  const CUdeviceptr out = with({0});
  EXPECT_EQ(add(out, out, out, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add(out, out, out, 1, 1, 1025), CUDA_ERROR_INVALID_VALUE);
  CUmodule module = nullptr;
  const std::uint64_t other = 1;
  EXPECT_EQ(cuModuleLoadData(&module, &other), CUDA_ERROR_INVALID_IMAGE);
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module_, "no_kernel"), CUDA_ERROR_NOT_FOUND);
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_NE(add(out, out, out, 2), CUDA_SUCCESS);
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr("reach beyond the 4 bytes"), HasSubstr("reach beyond"), HasSubstr("reach beyond")));
  EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
}

TEST_F(KernelsDouble, KernelsReachAnotherDeviceWhereThatIsEnabled) {
  const CUdeviceptr here = with({1}), there = with({2}, 1);
  EXPECT_NE(add(here, here, there, 1), CUDA_SUCCESS);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("may not access")));
  int can = 0;
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cuCtxEnablePeerAccess(contexts_[1], 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(contexts_[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(add(here, here, there, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_THAT(values(here, 1), ElementsAre(3));
  set_peer_access(false);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  for (const CUdeviceptr memory : {here, there}) EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(KernelsDouble, OtherProcessesOpenMemory) {
  const CUdeviceptr mine = with({7});
  CUipcMemHandle handle{};
  ASSERT_EQ(cuIpcGetMemHandle(&handle, mine), CUDA_SUCCESS);
  CUipcMemHandle none{};
  EXPECT_EQ(cuIpcGetMemHandle(&none, mine + 2), CUDA_ERROR_INVALID_VALUE) << "no beginning of an allocation";
  CUdeviceptr opened = 0;
  constexpr unsigned lazily = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
  EXPECT_EQ(cuIpcOpenMemHandle(&opened, handle, lazily), CUDA_ERROR_INVALID_CONTEXT) << "by the process itself";
  set_process(1);
  EXPECT_EQ(cuIpcOpenMemHandle(&opened, handle, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuIpcOpenMemHandle(&opened, handle, lazily), CUDA_SUCCESS);
  EXPECT_NE(opened, mine);
  EXPECT_EQ(add(mine, mine, opened, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_THAT(values(opened, 1), ElementsAre(14));
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_EQ(cuMemFree(opened), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(mine), CUDA_SUCCESS);
  EXPECT_EQ(leaks().opened_memory, 1);
  EXPECT_EQ(cuIpcCloseMemHandle(opened), CUDA_SUCCESS);
  EXPECT_EQ(cuIpcCloseMemHandle(opened), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr("another process has allocated"), HasSubstr("has it open"), HasSubstr("not open")));
}

}  // namespace
}  // namespace chorus::test
