// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/axes.hpp>

#include "sparse/slices_reduction.hpp"
#include "with_type.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chorus::detail {
namespace {

bool is_integer(DataType type) { return type <= DataType::uint64; }

/// Whether all elements equal zero, of either sign.
bool is_zero(const TensorRef& tensor) {
  return with_type(tensor.type, [&]<class T>() {
    const T* const first = reinterpret_cast<const T*>(tensor.data);
    return std::all_of(first, first + tensor.bytes() / sizeof(T), [](const T& number) { return number == T{}; });
  });
}

bool is_complex(DataType type) { return type == DataType::complex64 || type == DataType::complex128; }

}  // namespace

std::size_t dimension_of(int axis, const Shape& shape, const char* function) {
  const int rank = static_cast<int>(shape.size());
  if (axis >= -rank && axis < rank) return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: axis {} is none of a tensor of shape {}: give one from {} to {}", function, axis,
                          to_string(shape), -rank, rank - 1));
}

void check_operation(ReduceOp op, DataType type, const char* function) {
  if (op != ReduceOp::sum && op != ReduceOp::average && op != ReduceOp::min && op != ReduceOp::max) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: strategies do not reduce by {}: give sum, average, min or max", function, name(op)));
  }
  const bool adds = op == ReduceOp::sum || op == ReduceOp::average;
  if (type == DataType::boolean && adds) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: bool elements have no {}: give min, which is `and`, max, which is `or`, or integers",
                            function, name(op)));
  }
  if (op == ReduceOp::average && is_integer(type)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: the average of {} elements is no integer: reduce floating-point numbers, or sum and "
                            "divide as you need it",
                            function, name(type)));
  }
  if ((op == ReduceOp::min || op == ReduceOp::max) && is_complex(type)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} elements have no order: give sum or average", function, name(type)));
  }
}

void reject_no_elements(ReduceOp op) {
  throw Error(ErrorCode::invalid_argument, fmt::format("Strategy::reduce: no replica has an element: the {} of none is "
                                                       "undefined: give one to a replica at least, or sum",
                                                       name(op)));
}

void reject_structures(const LeavesOfReplica& first, const LeavesOfReplica& other, const char* function) {
  const auto [mine, theirs] = std::ranges::mismatch(first.leaves, other.leaves);
  std::string how = "one has more empty vectors or maps";
  if (mine != first.leaves.end() && theirs != other.leaves.end()) {
    how = fmt::format("where replica {} has {}, replica {} has {}", first.replica, *mine, other.replica, *theirs);
  } else if (mine != first.leaves.end()) {
    how = fmt::format("only replica {} has {}", first.replica, *mine);
  } else if (theirs != other.leaves.end()) {
    how = fmt::format("only replica {} has {}", other.replica, *theirs);
  }
  throw Error(ErrorCode::mismatch,
              fmt::format("{}: the structures of the replicas differ: {}: give as many elements and the same keys on "
                          "every replica",
                          function, how));
}

void check_same_everywhere(ReduceOp op, const LeafRefs& leaves, int replicas) {
  chorus::check_operation(op, leaves.slices, "Strategy::reduce");
  std::vector<TensorRef> tensors = leaves.tensors;
  for (const SlicesRef& slices : leaves.slices) tensors.push_back(slices.values());
  for (const TensorRef& tensor : tensors) check_operation(op, tensor.type, "Strategy::reduce");
  if (op != ReduceOp::sum || replicas == 1) return;
  for (const TensorRef& tensor : tensors) {
    if (is_zero(tensor)) continue;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("Strategy::reduce: a value that is the same on all {} replicas has no sum over them: take its "
                    "average, or return a part of it from each replica in run",
                    replicas));
  }
}

}  // namespace chorus::detail
