// SPDX-License-Identifier: Apache-2.0
//
// Native scan: the MPI library's own (prefix_native.cpp).

#include "prefix.hpp"
#include "vendor.hpp"

namespace chorus::scan_native {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(prefix_native::traffic);

}  // namespace chorus::scan_native
