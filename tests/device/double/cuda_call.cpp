// SPDX-License-Identifier: Apache-2.0
#include "cuda_call.hpp"

namespace chorus::test::doubles {

CUresult refusal(const std::string& function, int device, Needs needs) {
  if (const int failure = injected_failure(function, device); failure != 0) return static_cast<CUresult>(failure);
  if (in_host_function()) {
    record_fault(function + " is called in a function of cuLaunchHostFunc, which must not call CUDA");
    return CUDA_ERROR_NOT_PERMITTED;
  }
  if (needs == Needs::nothing) return CUDA_SUCCESS;
  if (!settings().initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::context && current_device() < 0) return CUDA_ERROR_INVALID_CONTEXT;
  return CUDA_SUCCESS;
}

}  // namespace chorus::test::doubles
