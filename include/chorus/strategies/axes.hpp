// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/structure.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::detail {

/// The dimension that `axis` names, counted from the last where it is negative.
/// Throws   Error{invalid_argument} where it names none.
[[nodiscard]] CHORUS_API std::size_t dimension_of(int axis, const Shape& shape, const char* function);

/// StrategyCall::dimensions where only this one is named; 0 for those that have no bit.
[[nodiscard]] constexpr std::uint8_t dimension_bit(std::size_t dimension) noexcept {
  return dimension < 8 ? static_cast<std::uint8_t>(1U << dimension) : std::uint8_t{0};
}

/// What makes the tensor that a reduction over axes leaves, once its shape is known.
struct AxisResult {
  StorageOrder order = StorageOrder::row_major;
  std::function<TensorRef(const Shape&)> make = {};
};

/// `left` and `right` joined by sum, min or max; not a number where either is none.
template <class T>
[[nodiscard]] constexpr T joined(ReduceOp op, const T& left, const T& right) noexcept {
  if (op == ReduceOp::sum) return static_cast<T>(left + right);
  if constexpr (std::totally_ordered<T>) {
    if (left != left) return left;
    if (right != right) return right;
    return (op == ReduceOp::min) == (right < left) ? right : left;
  }
  return left;
}

/// Throws   Error{invalid_argument} for other operations than sum, average, min and max, for averages of integers, and
///          for min and max of what has no order.
CHORUS_API void check_operation(ReduceOp op, DataType type, const char* function);
[[noreturn]] CHORUS_API void reject_no_elements(ReduceOp op);

/// A replica, by its number among all, and the leaves of what it has.
struct LeavesOfReplica {
  int replica = 0;
  std::vector<std::string> leaves = {};
};
/// Throws Error{mismatch}, which names the first leaf that only one of the replicas has.
[[noreturn]] CHORUS_API void reject_structures(const LeavesOfReplica& first, const LeavesOfReplica& other,
                                               const char* function);

/// The structure_number of `components`, of the replicas from `first_replica` on; 0 where theirs cannot differ.
/// Throws   Error{mismatch} where their structures differ.
template <Structure T>
std::uint64_t checked_structure(std::span<T> components, int first_replica, const char* function) {
  if constexpr (!may_differ<T>()) return 0;
  const std::uint64_t first = structure_number(components.front());
  for (std::size_t replica = 1; replica < components.size(); ++replica) {
    if (structure_number(components[replica]) == first) continue;
    reject_structures({first_replica, paths_of(components.front())},
                      {first_replica + static_cast<int>(replica), paths_of(components[replica])}, function);
  }
  return first;
}

/// The leaves of the components of a distributed value, one list of components for each leaf.
struct ReplicaLeaves {
  std::vector<std::vector<TensorRef>> tensors = {};
  std::vector<ReplicaSlices> slices = {};
  std::uint64_t structure = 0;                           ///< checked_structure
  std::function<std::vector<std::string>()> paths = {};  ///< of the tensors, for messages; as long as these live
};
/// Throws   Error{mismatch} where the structures differ.
template <Structure T>
[[nodiscard]] ReplicaLeaves leaves_of_components(std::span<T> components, int first_replica, const char* function) {
  ReplicaLeaves all{.structure = checked_structure(components, first_replica, function)};
  all.paths = [components] { return tensor_paths_of(components.front()); };
  for (T& component : components) {
    LeafRefs leaves = leaves_of(component);
    all.tensors.resize(leaves.tensors.size());
    all.slices.resize(leaves.slices.size());
    for (std::size_t i = 0; i < leaves.tensors.size(); ++i) all.tensors[i].push_back(std::move(leaves.tensors[i]));
    for (std::size_t i = 0; i < leaves.slices.size(); ++i) all.slices[i].push_back(leaves.slices[i]);
  }
  return all;
}

/// Throws   as check_operation, and Error{not_supported} where IndexedSlices are not summed or averaged;
///          Error{invalid_argument} for a sum, unless all elements are zero: what is the same on
///          each of several replicas has no sum over them.
CHORUS_API void check_same_everywhere(ReduceOp op, const LeafRefs& leaves, int replicas);

}  // namespace chorus::detail
