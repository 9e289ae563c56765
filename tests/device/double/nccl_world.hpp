// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "double.hpp"

#include <cuda.h>
#include <nccl.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

// Ranks that are threads, each with a device, a stream and, if it is asked for, a communicator.
namespace chorus::test {

/// What a thread has.
struct NcclRank {
  int rank = -1;
  int ranks = 0;
  ncclUniqueId id = {};
  CUstream stream = nullptr;
  ncclComm_t comm = nullptr;
  std::vector<CUdeviceptr> memory = {};

  /// Device memory with these values, freed at the end.
  template <typename T>
  T* with(const std::vector<T>& values) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cuMemAlloc(&made, values.size() * sizeof(T)), CUDA_SUCCESS);
    std::memcpy(static_cast<void*>(device_bytes(made)), values.data(), values.size() * sizeof(T));
    memory.push_back(made);
    return reinterpret_cast<T*>(made);
  }
  /// What lies there once the stream has done all.
  template <typename T>
  std::vector<T> values(const T* from, std::size_t count) {
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    std::vector<T> read(count);
    const auto address = reinterpret_cast<CUdeviceptr>(from);
    std::memcpy(static_cast<void*>(read.data()), device_bytes(address), count * sizeof(T));
    return read;
  }
  ncclResult_t init(bool blocking = true) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = blocking ? 1 : 0;
    return ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  }
  /// Asks until nothing is in progress.
  ncclResult_t wait() const {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
    return state;
  }
};

/// Runs `body` on threads with devices, from `first_device` on, and a common identifier, but without communicators.
inline void on_devices(int ranks, const std::function<void(NcclRank&)>& body) {
  ncclUniqueId id = {};
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      set_label("rank " + std::to_string(rank));
      CUcontext context = nullptr;
      NcclRank self{.rank = rank, .ranks = ranks, .id = id};
      EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, rank), CUDA_SUCCESS);
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamCreate(&self.stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
      body(self);
      for (const CUdeviceptr address : self.memory) EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy(self.stream), CUDA_SUCCESS);
      EXPECT_EQ(cuDevicePrimaryCtxRelease(rank), CUDA_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The same with communicators, which are destroyed unless `body` has made them null.
inline void on_ranks(int ranks, const std::function<void(NcclRank&)>& body) {
  on_devices(ranks, [&](NcclRank& self) {
    ASSERT_EQ(self.init(), ncclSuccess);
    body(self);
    if (self.comm != nullptr) {
      EXPECT_EQ(ncclCommDestroy(self.comm), ncclSuccess);
    }
  });
}

}  // namespace chorus::test
