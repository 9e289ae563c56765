// SPDX-License-Identifier: Apache-2.0
//
// Native allreduce: the MPI library's own.

#include "vendor.hpp"

namespace chorus::allreduce_native {
namespace {

Traffic traffic(const Problem& problem) {
  return vendor::traffic_of_fastest(problem, {"recursive_doubling", "rabenseifner"});
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::allreduce_native
