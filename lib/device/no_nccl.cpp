// SPDX-License-Identifier: Apache-2.0
// Stands in for nccl_native.cpp and plain_nccl.cpp where the library is built without NCCL.
#include "device/nccl_native.hpp"
#include "device/plain_nccl.hpp"

#include <chorus/error.hpp>

namespace chorus {

NcclHere nccl_here() {
  return {.version = 0,
          .missing = "the library has been built without NCCL; configure it with -Dnccl=enabled",
          .code = ErrorCode::not_built};
}

Task<std::unique_ptr<DeviceNative>> connect_nccl(Transport& /*transport*/, int /*device*/) {
  throw Error(ErrorCode::not_built, nccl_here().missing);
}

std::string PlainNccl::new_address() { throw Error(ErrorCode::not_built, nccl_here().missing); }
PlainNccl::PlainNccl(const std::string& /*address*/, int rank, int ranks) : rank_(rank), ranks_(ranks) {
  throw Error(ErrorCode::not_built, nccl_here().missing);
}
PlainNccl::~PlainNccl() = default;
void PlainNccl::queue(const Call& /*call*/, const std::byte* /*in*/, std::byte* /*out*/, Stream /*stream*/) const {}

}  // namespace chorus
