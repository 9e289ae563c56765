// SPDX-License-Identifier: Apache-2.0
// Stands in for nccl_native.cpp where the library is built without NCCL.
#include "device/nccl_native.hpp"

#include <chorus/error.hpp>

namespace chorus {

NcclHere nccl_here() {
  return {.version = 0, .missing = "the library has been built without NCCL; configure it with -Dnccl=enabled"};
}

Task<std::unique_ptr<DeviceNative>> connect_nccl(Transport& /*transport*/, int /*device*/) {
  throw Error(ErrorCode::not_built, nccl_here().missing);
}

}  // namespace chorus
