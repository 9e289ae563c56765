// SPDX-License-Identifier: Apache-2.0
//
// Native reduce_scatter: the MPI library's own.

#include "vendor.hpp"

namespace chorus::reduce_scatter_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double bytes = problem.ranks > 1 ? static_cast<double>(problem.call.bytes()) : 0;
  return {.shared = {}, .messages = {.messages = vendor::rounds(problem), .bytes = bytes, .reduced = bytes}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::reduce_scatter_native
