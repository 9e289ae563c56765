// SPDX-License-Identifier: Apache-2.0
//
// Single-copy allreduce: each rank reduces a piece, which it reads from the memory of all others, and writes it into
// theirs (single_copy_reduction.hpp).

#include "single_copy_reduction.hpp"

namespace chorus::allreduce_shared {
extern const Algorithm algorithm;
}

namespace chorus::allreduce_single_copy {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy_reduction<allreduce_shared::algorithm>(
    "each rank reduces a piece from the memory of all, and writes it into theirs: long vectors in a node");

}  // namespace chorus::allreduce_single_copy
