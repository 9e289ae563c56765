// SPDX-License-Identifier: Apache-2.0
//
// Pairwise alltoallw: every rank sends every other one its block: nothing is passed on (sections.hpp).
//
// In step k a rank sends to the k-th rank ahead and gets from the k-th rank behind.

#include "sections.hpp"

namespace chorus::alltoallw_pairwise {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "pairwise",
    .summary = "every rank sends every other one its block: nothing is passed on",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = message_traffic,
    .run = pass_by_messages,
};

}  // namespace chorus::alltoallw_pairwise
