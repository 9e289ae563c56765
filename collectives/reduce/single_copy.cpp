// SPDX-License-Identifier: Apache-2.0
//
// Single-copy reduce: each rank reduces a piece, which it reads from the memory of all others, and writes it into the
// memory of the root (single_copy_reduction.hpp).

#include "single_copy_reduction.hpp"

namespace chorus::reduce_shared {
extern const Algorithm algorithm;
}

namespace chorus::reduce_single_copy {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy_reduction<reduce_shared::algorithm>(
    "each rank reduces a piece from the memory of all, and writes it into the root's: long vectors in a node");

}  // namespace chorus::reduce_single_copy
