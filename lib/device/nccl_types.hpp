// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <nccl.h>

namespace chorus {

/// NCCL's names of the elements and operations that it reduces; for those of a call that `nccl_supports`.
[[nodiscard]] ncclDataType_t nccl_type(DataType type) noexcept;
[[nodiscard]] ncclRedOp_t nccl_op(ReduceOp op) noexcept;

/// True where NCCL has the collective, and joins such elements as chorus says it does. Integers' averages it may round
/// otherwise.
[[nodiscard]] bool nccl_supports(const Call& call) noexcept;

}  // namespace chorus
