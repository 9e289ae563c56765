// SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling exscan: what a rank has combined goes to the rank 1, 2, 4, ... behind it
// (prefix_recursive_doubling.cpp).

#include "prefix.hpp"

namespace chorus::exscan_recursive_doubling {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "recursive_doubling",
    .summary = "each rank passes on what it has combined, over doubling distances: fewest rounds",
    .source = "Kogge and Stone, IEEE Trans. Comput. C-22(8), 1973; Hillis and Steele, Commun. ACM 29(12), 1986",
    .applies = prefix_recursive_doubling::applies,
    .traffic = prefix_recursive_doubling::traffic,
    .run = prefix_recursive_doubling::run,
};

}  // namespace chorus::exscan_recursive_doubling
