// SPDX-License-Identifier: Apache-2.0
//
// Native exscan: the MPI library's own (prefix_native.cpp).

#include "prefix.hpp"
#include "vendor.hpp"

namespace chorus::exscan_native {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(prefix_native::traffic);

}  // namespace chorus::exscan_native
