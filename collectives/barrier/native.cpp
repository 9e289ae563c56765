// SPDX-License-Identifier: Apache-2.0
//
// Native barrier: the MPI library's own.

#include "vendor.hpp"

namespace chorus::barrier_native {
namespace {

Traffic traffic(const Problem& problem) {
  return {.shared = {}, .messages = {.messages = vendor::rounds(problem), .bytes = 0, .reduced = 0}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::barrier_native
