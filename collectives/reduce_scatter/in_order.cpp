// SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter in order: every rank sends every other one its block; when all have come, they are reduced in the
// order of the ranks.
//
// Right for blocks of any lengths and any function. Each rank holds its block of every rank at a time.

#include "reduction_in_order.hpp"

namespace chorus::reduce_scatter_in_order {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const double steps = problem.ranks - 1;
  const double bytes = steps * static_cast<double>(problem.call.bytes()) / problem.ranks;
  return {.shared = {}, .messages = {.messages = steps, .bytes = bytes, .reduced = bytes}};
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "in_order",
    .summary = "every rank sends every other one its block and reduces in order: nothing is passed on",
    .source = "MPI Forum, MPI 4.0, 2021, section 6.9 (the order of reductions)",
    .applies = applies,
    .traffic = traffic,
    .run = reduce_in_order,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_in_order
