// SPDX-License-Identifier: Apache-2.0
#include "repeatability.hpp"

#include "base/names.hpp"
#include "kernels/kernels.hpp"

namespace chorus {

Call asking_for(Repeatability wanted, Call call) noexcept {
  const bool function = call.op == commutative_function || call.op == ordered_function;
  const bool sum = call.op == ReduceOp::sum || call.op == ReduceOp::average;
  if (!has_op(call.collective) || (call.type < DataType::float16 && !function)) wanted = Repeatability::none;
  if (wanted == Repeatability::reproducible && (!sum || kernels::exact_sum(call.type) == nullptr)) {
    wanted = Repeatability::deterministic;
  }
  call.repeatability = wanted;
  return call;
}

}  // namespace chorus
