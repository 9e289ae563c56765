// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/replicas.hpp"
#include "device/double/double.hpp"
#include "device/test_memory.hpp"

#include <chorus/gpu.hpp>

#include <cuda.h>

#include <vector>

// Replicas with memory of GPUs, which the doubles of CUDA and NCCL pretend.
namespace chorus::test {

/// The GPU that is current on this thread.
inline int current_gpu() {
  CUdevice device = -1;
  return cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : -1;
}

/// What the reduction over all replicas of their `mine` is, as this replica has it.
template <class T>
std::vector<T> all_reduced(ReduceOp op, const std::vector<T>& mine, const CommunicationOptions& options = {}) {
  const TestStream stream;
  const DeviceMemory memory(bytes_of_all(mine));
  ReplicaContext& replica = *get_replica_context();
  replica.all_reduce_in_place(op, memory.span<T>(), stream.get(), options);
  replica.synchronize(stream.get());
  return elements<T>(memory);
}

/// What a copy that was put into a stream has brought, as this replica finds it when it has synchronised.
inline std::vector<float> copied_before_synchronize() {
  const std::vector<float> values(1000, 7);
  const TestStream stream;
  const DeviceMemory from(bytes_of_all(values));
  const DeviceMemory to(bytes_of_all(std::vector<float>(values.size())));
  check(cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to.data()), reinterpret_cast<CUdeviceptr>(from.data()),
                          to.size(), stream.native()));
  get_replica_context()->synchronize(stream.get());
  return elements<float>(to);
}

}  // namespace chorus::test
