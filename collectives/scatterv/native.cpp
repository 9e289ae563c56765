// SPDX-License-Identifier: Apache-2.0
//
// Native scatterv: the MPI library's own, where it is named.

#include "sections.hpp"
#include "vendor.hpp"

namespace chorus::scatterv_native {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native_of_unknown_lengths(message_traffic);

}  // namespace chorus::scatterv_native
