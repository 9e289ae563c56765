// SPDX-License-Identifier: Apache-2.0
//
// Native exscan: the MPI library's own (prefix_native.cpp).

#include "prefix.hpp"
#include "vendor.hpp"

namespace chorus::exscan_native {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = vendor::native_name,
    .summary = "the MPI library's own collective",
    .source = "the MPI library",
    .applies = vendor::applies,
    .traffic = prefix_native::traffic,
    .run = vendor::run,
    .now = vendor::now,
};

}  // namespace chorus::exscan_native
