// SPDX-License-Identifier: Apache-2.0
//
// Native bcast: the MPI library's own.

#include "vendor.hpp"

#include <algorithm>

namespace chorus::bcast_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double rounds = vendor::rounds(problem);
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = rounds, .bytes = std::min(rounds, 2.0) * bytes, .reduced = 0}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::bcast_native
