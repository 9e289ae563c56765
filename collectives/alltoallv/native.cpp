// SPDX-License-Identifier: Apache-2.0
//
// Native alltoallv: the MPI library's own, where it is named.

#include "sections.hpp"
#include "vendor.hpp"

namespace chorus::alltoallv_native {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native_of_unknown_lengths(message_traffic);

}  // namespace chorus::alltoallv_native
