// SPDX-License-Identifier: Apache-2.0
#include "device/nccl_types.hpp"

#include "base/names.hpp"

#include <algorithm>
#include <utility>

namespace chorus {
namespace {

constexpr std::pair<DataType, ncclDataType_t> types[] = {
    {DataType::int8, ncclInt8},       {DataType::uint8, ncclUint8},       {DataType::int32, ncclInt32},
    {DataType::uint32, ncclUint32},   {DataType::int64, ncclInt64},       {DataType::uint64, ncclUint64},
    {DataType::float16, ncclFloat16}, {DataType::bfloat16, ncclBfloat16}, {DataType::float32, ncclFloat32},
    {DataType::float64, ncclFloat64},
};
constexpr std::pair<ReduceOp, ncclRedOp_t> ops[] = {{ReduceOp::sum, ncclSum},
                                                    {ReduceOp::product, ncclProd},
                                                    {ReduceOp::min, ncclMin},
                                                    {ReduceOp::max, ncclMax},
                                                    {ReduceOp::average, ncclAvg}};

bool is_floating(DataType type) noexcept {
  return is_half(type) || type == DataType::float32 || type == DataType::float64;
}

bool joins(DataType type, ReduceOp op) noexcept {
  const bool known = std::ranges::find(types, type, &std::pair<DataType, ncclDataType_t>::first) != std::end(types) &&
                     std::ranges::find(ops, op, &std::pair<ReduceOp, ncclRedOp_t>::first) != std::end(ops);
  return known && (op != ReduceOp::average || is_floating(type));
}

}  // namespace

ncclDataType_t nccl_type(DataType type) noexcept {
  return std::ranges::find(types, type, &std::pair<DataType, ncclDataType_t>::first)->second;
}

ncclRedOp_t nccl_op(ReduceOp op) noexcept {
  return std::ranges::find(ops, op, &std::pair<ReduceOp, ncclRedOp_t>::first)->second;
}

bool nccl_supports(const Call& call) noexcept {
  if (call.repeatability != Repeatability::none) return false;
  switch (call.collective) {
    case Collective::bcast:
    case Collective::allgather:
    case Collective::alltoall:
    case Collective::gather:
    case Collective::scatter:
    case Collective::allgatherv:
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
      return true;
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return joins(call.type, call.op);
    default:
      return false;
  }
}

}  // namespace chorus
