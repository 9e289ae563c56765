// SPDX-License-Identifier: Apache-2.0
//
// Linear scatterv: the root sends every rank its block: nothing is passed on (sections.hpp).
//
// Lengths are known to the root and the receiver only, so no rank can pass on blocks of others.

#include "sections.hpp"

namespace chorus::scatterv_linear {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = by_messages(
    "linear", "the root sends every rank its block: nothing is passed on",
    "Message Passing Interface Forum, MPI: A Message-Passing Interface Standard (the definition of MPI_Scatterv)");

}  // namespace chorus::scatterv_linear
