// SPDX-License-Identifier: Apache-2.0
//
// Linear gatherv: every rank sends its block to the root: nothing is passed on (sections.hpp).
//
// Lengths are known to the root and the sender only, so no rank can pass on blocks of others.

#include "sections.hpp"

namespace chorus::gatherv_linear {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "linear",
    .summary = "every rank sends its block to the root: nothing is passed on",
    .source =
        "Message Passing Interface Forum, MPI: A Message-Passing Interface Standard (the definition of MPI_Gatherv)",
    .applies = applies,
    .traffic = message_traffic,
    .run = pass_by_messages,
};

}  // namespace chorus::gatherv_linear
