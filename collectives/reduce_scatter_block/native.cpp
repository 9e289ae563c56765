// SPDX-License-Identifier: Apache-2.0
//
// Native reduce_scatter_block: the MPI library's own.

#include "vendor.hpp"

namespace chorus::reduce_scatter_block_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double others = (problem.ranks - 1.0) * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = vendor::rounds(problem), .bytes = others, .reduced = others}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::reduce_scatter_block_native
