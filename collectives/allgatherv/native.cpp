// SPDX-License-Identifier: Apache-2.0
//
// Native allgatherv: the MPI library's own.

#include "sections.hpp"
#include "vendor.hpp"

namespace chorus::allgatherv_native {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(message_traffic);

}  // namespace chorus::allgatherv_native
