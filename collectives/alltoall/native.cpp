// SPDX-License-Identifier: Apache-2.0
//
// Native alltoall: the MPI library's own. Its traffic is that of the textbook's algorithm, which is all that is known
// of it from outside.

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
const Algorithm algorithm{
    .name = vendor::native_name,
    .summary = "the MPI library's own collective",
    .source = "the MPI library",
    .applies = vendor::applies,
    .traffic = traffic,
    .run = vendor::run,
    .now = vendor::now,
};

}  // namespace chorus::alltoall_native
