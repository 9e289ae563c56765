// SPDX-License-Identifier: Apache-2.0
//
// What is assumed of the MPI library's own scan and exscan: that the whole vector goes from rank to rank, as in Open
// MPI 4.1. MPICH takes recursive doubling.

#include "vendor.hpp"

namespace chorus::scan_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double steps = problem.ranks - 1;
  const double bytes = steps * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = steps, .bytes = bytes, .reduced = bytes}};
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = vendor::native(traffic);

}  // namespace chorus::scan_native
