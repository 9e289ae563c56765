// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/reduce_elements.hpp"

extern "C" __global__ void __launch_bounds__(512)
    chorus_reduce(const __grid_constant__ chorus::device_kernels::Reduction reduction) {
  const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  chorus::device_kernels::reduce_elements(reduction, thread, threads);
}
