// SPDX-License-Identifier: Apache-2.0
//
// Native reduce: the MPI library's own.

#include "vendor.hpp"

namespace chorus::reduce_native {
namespace {

Traffic traffic(const Problem& problem) {
  return vendor::traffic_of_fastest(problem, {"binomial", "reduce_scatter_gather"});
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::reduce_native
