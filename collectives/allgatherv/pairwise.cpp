// SPDX-License-Identifier: Apache-2.0
//
// Pairwise allgatherv: every rank sends every other one its block: nothing is passed on (sections.hpp).
//
// In step k a rank sends its block to the k-th rank ahead and gets that of the k-th rank behind.

#include "sections.hpp"

namespace chorus::allgatherv_pairwise {

extern const Algorithm algorithm;
constexpr Algorithm algorithm =
    by_messages("pairwise", "every rank sends every other one its block: nothing is passed on",
                "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005");

}  // namespace chorus::allgatherv_pairwise
