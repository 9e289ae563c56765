// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/replicas.hpp"
#include "device/double/double.hpp"

#include <chorus/device_span.hpp>
#include <chorus/gpu.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstring>
#include <vector>

// Replicas with memory of GPUs, which the doubles of CUDA and NCCL pretend.
namespace chorus::test {

inline void expect_success(CUresult result) { EXPECT_EQ(result, CUDA_SUCCESS); }

/// The GPU that is current on this thread.
inline int current_gpu() {
  CUdevice device = -1;
  return cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : -1;
}

/// A stream of the current GPU.
class GpuStream {
 public:
  GpuStream() { expect_success(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING)); }
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  ~GpuStream() { cuStreamDestroy(stream_); }
  [[nodiscard]] Stream get() const noexcept { return Stream(stream_); }

 private:
  CUstream stream_ = nullptr;
};

/// A vector in the memory of the current GPU.
template <class T>
class GpuVector {
 public:
  explicit GpuVector(const std::vector<T>& values) : count_(values.size()) {
    expect_success(cuMemAlloc(&address_, count_ * sizeof(T)));
    std::memcpy(device_bytes(address_), values.data(), count_ * sizeof(T));
  }
  GpuVector(const GpuVector&) = delete;
  GpuVector& operator=(const GpuVector&) = delete;
  ~GpuVector() { cuMemFree(address_); }
  [[nodiscard]] DeviceSpan<T> span() const noexcept { return {reinterpret_cast<T*>(address_), count_}; }
  /// What is in it; nothing may be writing there.
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> all(count_);
    std::memcpy(all.data(), device_bytes(address_), count_ * sizeof(T));
    return all;
  }

 private:
  std::size_t count_;
  CUdeviceptr address_ = 0;
};

/// What the reduction over all replicas of their `mine` is, as this replica has it.
template <class T>
std::vector<T> all_reduced(ReduceOp op, const std::vector<T>& mine, const CommunicationOptions& options = {}) {
  const GpuStream stream;
  const GpuVector<T> vector(mine);
  ReplicaContext& replica = *get_replica_context();
  replica.all_reduce_in_place(op, vector.span(), stream.get(), options);
  replica.synchronize(stream.get());
  return vector.values();
}

}  // namespace chorus::test
