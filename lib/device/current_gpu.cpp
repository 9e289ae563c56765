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
  push_context(context_of(ordinal));
}

CurrentGpu::~CurrentGpu() { pop_context(); }

}  // namespace chorus
