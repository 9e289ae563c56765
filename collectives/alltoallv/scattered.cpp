// SPDX-License-Identifier: Apache-2.0
//
// Scattered alltoallv: as `pairwise`, but a rank exchanges with up to 8 others at a time (sections.hpp).
//
// The steps of `pairwise` are dealt out to 8 rows that run side by side: a partner that is late, or whose blocks are
// long, holds up one row. With p = 20 the first row has the steps 1, 9 and 17.

#include "sections.hpp"

namespace chorus::alltoallv_scattered {

extern const Algorithm algorithm;
constexpr Algorithm algorithm =
    in_rows("as pairwise, with several blocks of a rank under way at a time: many ranks",
            "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005");

}  // namespace chorus::alltoallv_scattered
