// SPDX-License-Identifier: Apache-2.0
//
// Native allgather: the MPI library's own.

#include "vendor.hpp"

namespace chorus::allgather_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double others = (problem.ranks - 1.0) * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = vendor::rounds(problem), .bytes = others, .reduced = 0}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::allgather_native
