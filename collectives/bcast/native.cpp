// SPDX-License-Identifier: Apache-2.0
//
// Native bcast: the MPI library's own.

#include "vendor.hpp"

namespace chorus::bcast_native {
namespace {

Traffic traffic(const Problem& problem) {
  return vendor::traffic_of_fastest(problem, {"binomial", "scatter_allgather"});
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::bcast_native
