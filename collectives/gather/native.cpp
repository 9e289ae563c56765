// SPDX-License-Identifier: Apache-2.0
//
// Native gather: the MPI library's own.

#include "vendor.hpp"

namespace chorus::gather_native {
namespace {

Traffic traffic(const Problem& problem) { return vendor::traffic_of_fastest(problem, {"binomial", "linear"}); }

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::gather_native
