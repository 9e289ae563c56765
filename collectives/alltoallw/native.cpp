// SPDX-License-Identifier: Apache-2.0
//
// Native alltoallw: the MPI library's own.

#include "sections.hpp"
#include "vendor.hpp"

namespace chorus::alltoallw_native {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(message_traffic);

}  // namespace chorus::alltoallw_native
