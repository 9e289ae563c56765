// SPDX-License-Identifier: Apache-2.0
//
// Native allreduce: the MPI library's own.

#include "vendor.hpp"

#include <algorithm>

namespace chorus::allreduce_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double rounds = vendor::rounds(problem);
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {},
          .messages = {
              .messages = rounds, .bytes = std::min(rounds, 2.0) * bytes, .reduced = std::min(rounds, 1.0) * bytes}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::allreduce_native
