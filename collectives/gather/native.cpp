// SPDX-License-Identifier: Apache-2.0
//
// Native gather: the MPI library's own. Its traffic is that of the textbook's algorithm, which is all that is known of
// it from outside.

#include "vendor.hpp"

#include <bit>

namespace chorus::gather_native {
namespace {

Traffic traffic(const Problem& problem) {
  const double rounds = std::bit_width(static_cast<unsigned>(problem.ranks - 1));
  const double others = (problem.ranks - 1.0) * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = rounds, .bytes = others, .reduced = 0}};
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

}  // namespace chorus::gather_native
