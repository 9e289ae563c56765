// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

// What NCCL's kernels compute.
namespace chorus::test::doubles {
namespace {

using Parts = std::vector<const Part*>;

/// What elements are computed in.
template <typename T>
using Wide = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;

template <typename T>
Wide<T> load(const std::byte* from, std::size_t at) {
  T value;
  std::memcpy(static_cast<void*>(&value), from + at * sizeof value, sizeof value);
  return static_cast<Wide<T>>(value);
}

/// Integers wrap around.
template <typename W>
W sum(W left, W right) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
  } else {
    return left + right;
  }
}

template <typename W>
W product(W left, W right) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
  } else {
    return left * right;
  }
}

template <typename W>
W combine(ncclRedOp_t op, W left, W right) {
  switch (op) {
    case ncclProd:
      return product(left, right);
    case ncclMax:
      return std::max(left, right);
    case ncclMin:
      return std::min(left, right);
    default:
      return sum(left, right);
  }
}

/// Element `at` as the rank gives it to the reduction.
template <typename T>
Wide<T> given(const Part& part, std::size_t at) {
  const Wide<T> value = load<T>(part.from.data, at);
  if (!part.operation.scale.has_value()) return value;
  const bool on_device = part.scale.data != nullptr;
  return product(value, load<T>(on_device ? part.scale.data : part.operation.scale->value.data(), 0));
}

template <typename T>
void reduce(const Parts& parts, std::size_t count, std::byte* to) {
  const ncclRedOp_t op = parts.front()->operation.op;
  for (std::size_t at = 0; at < count; ++at) {
    Wide<T> value = given<T>(*parts.front(), at);
    for (std::size_t rank = 1; rank < parts.size(); ++rank) value = combine(op, value, given<T>(*parts[rank], at));
    if (op == ncclAvg) value = static_cast<Wide<T>>(value / static_cast<Wide<T>>(parts.size()));
    const T result = static_cast<T>(value);
    std::memcpy(to + at * sizeof result, static_cast<const void*>(&result), sizeof result);
  }
}

std::vector<std::byte> reduced(const Parts& parts) {
  const Operation& operation = parts.front()->operation;
  std::vector<std::byte> result(bytes_read(operation));
  const std::size_t count = result.size() / size_of(operation.type);
  switch (operation.type) {
    case ncclInt8:
      reduce<std::int8_t>(parts, count, result.data());
      break;
    case ncclUint8:
      reduce<std::uint8_t>(parts, count, result.data());
      break;
    case ncclInt32:
      reduce<std::int32_t>(parts, count, result.data());
      break;
    case ncclUint32:
      reduce<std::uint32_t>(parts, count, result.data());
      break;
    case ncclInt64:
      reduce<std::int64_t>(parts, count, result.data());
      break;
    case ncclUint64:
      reduce<std::uint64_t>(parts, count, result.data());
      break;
    case ncclFloat16:
      reduce<__half>(parts, count, result.data());
      break;
    case ncclFloat32:
      reduce<float>(parts, count, result.data());
      break;
    case ncclFloat64:
      reduce<double>(parts, count, result.data());
      break;
    case ncclBfloat16:
      reduce<__nv_bfloat16>(parts, count, result.data());
      break;
    case ncclFloat8e4m3:
      reduce<__nv_fp8_e4m3>(parts, count, result.data());
      break;
    case ncclFloat8e5m2:
      reduce<__nv_fp8_e5m2>(parts, count, result.data());
      break;
    default:
      break;
  }
  return result;
}

/// What all ranks send, one after the other.
std::vector<std::byte> gathered(const Parts& parts) {
  std::vector<std::byte> result;
  for (const Part* const part : parts) {
    result.insert(result.end(), part->from.data, part->from.data + bytes_read(part->operation));
  }
  return result;
}

/// Gives each rank what it receives, from `offset` times its rank on.
void give(const Parts& parts, const std::vector<std::byte>& bytes, std::size_t offset = 0) {
  for (const Part* const part : parts) {
    const std::size_t length = bytes_written(part->operation);
    const std::byte* const from = bytes.data() + offset * static_cast<std::size_t>(part->operation.comm->rank);
    if (length > 0) std::memcpy(part->to.data, from, length);
  }
}

}  // namespace

void transfer(const Exchange& exchange) {
  Parts parts(exchange.parts.begin(), exchange.parts.end());
  std::ranges::sort(parts, {}, [](const Part* part) { return part->operation.comm->rank; });
  const Operation& first = parts.front()->operation;
  switch (first.kind) {
    case OperationKind::all_reduce:
    case OperationKind::reduce:
      give(parts, reduced(parts));
      break;
    case OperationKind::reduce_scatter:
      give(parts, reduced(parts), bytes_written(first));
      break;
    case OperationKind::all_gather:
      give(parts, gathered(parts));
      break;
    case OperationKind::broadcast:
      give(parts, gathered({parts[static_cast<std::size_t>(first.peer)]}));
      break;
    case OperationKind::send:
    case OperationKind::recv: {
      const bool first_sends = first.kind == OperationKind::send;
      give({parts[first_sends ? 1 : 0]}, gathered({parts[first_sends ? 0 : 1]}));
      break;
    }
  }
}

}  // namespace chorus::test::doubles
