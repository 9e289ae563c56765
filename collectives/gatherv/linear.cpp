// SPDX-License-Identifier: Apache-2.0
//
// Linear gatherv: every rank sends its block to the root: nothing is passed on (sections.hpp).
//
// Lengths are known to the root and the sender only, so no rank can pass on blocks of others.

#include "sections.hpp"

namespace chorus::gatherv_linear {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = by_messages(
    "linear", "every rank sends its block to the root: nothing is passed on",
    "Message Passing Interface Forum, MPI: A Message-Passing Interface Standard (the definition of MPI_Gatherv)");

}  // namespace chorus::gatherv_linear
