// SPDX-License-Identifier: Apache-2.0
#include "nccl_call.hpp"

// ncclGetVersion, ncclGetErrorString and ncclGetLastError.
using namespace chorus::test::doubles;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return nccl_call({.function = "ncclGetVersion"}, nullptr, [&](Lock&) {
    if (version == nullptr) return fail(ncclInvalidArgument, "ncclGetVersion: null");
    *version = nccl_settings().version;
    return ncclSuccess;
  });
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t /*comm*/) {
  const Lock lock(guard());
  return last_error();
}

}  // extern "C"
