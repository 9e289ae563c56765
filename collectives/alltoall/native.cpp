// SPDX-License-Identifier: Apache-2.0
//
// Native alltoall: the MPI library's own.

#include "vendor.hpp"

namespace chorus::alltoall_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double others = problem.ranks - 1;
  const double bytes = others * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = others, .bytes = bytes, .reduced = 0}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::alltoall_native
