// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contexts.hpp"
#include "recorder.hpp"
#include "shared.hpp"

#include <cuda.h>

#include <string>
#include <utility>

// What every exported function of CUDA's driver begins and ends with.
namespace chorus::test::doubles {

/// What must be before a call.
enum class Needs : std::uint8_t { nothing, initialized, context };

/// Why a call is refused before its arguments are looked at, or CUDA_SUCCESS.
[[nodiscard]] CUresult refusal(const std::string& function, int device, Needs needs);

/// Records `call`, and calls `body` under the lock unless the call is refused.
template <typename Body>
CUresult cuda_call(DeviceCall call, Needs needs, Body body) {
  Lock lock(guard());
  if (call.device < 0) call.device = current_device();
  const std::string function = call.function;
  const int device = call.device;
  const auto number = record(std::move(call));
  CUresult result = refusal(function, device, needs);
  if (result == CUDA_SUCCESS) result = body(lock);
  record_result(number, result);
  return result;
}

}  // namespace chorus::test::doubles
