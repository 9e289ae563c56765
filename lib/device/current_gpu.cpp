// SPDX-License-Identifier: Apache-2.0
#include "device/cuda.hpp"

#include <chorus/error.hpp>
#include <chorus/gpu.hpp>

#include <fmt/format.h>

namespace chorus {

CurrentGpu::CurrentGpu(int ordinal) {
  int gpus = 0;
  cuda().check(cuda().device_get_count(&gpus), "count the devices");
  if (ordinal < 0 || ordinal >= gpus) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("CurrentGpu: argument ordinal is {}, but this process can use {} GPUs, counted from 0; see "
                            "local_gpus()",
                            ordinal, gpus));
  }
  cuda().check(cuda().ctx_push_current(context_of(ordinal)), "make a GPU the current one");
}

CurrentGpu::~CurrentGpu() {
  CUcontext ours = nullptr;
  cuda().ctx_pop_current(&ours);
}

}  // namespace chorus
