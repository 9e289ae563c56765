// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/structure.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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

/// What happens to the elements of a tensor when some of its dimensions are reduced away: `at` tells for each element,
/// in the order of memory, which element of the result it goes to.
struct Reduction {
  Shape shape;                  ///< of the result
  std::vector<std::size_t> at;  ///< of as many elements as the tensor has
  std::size_t joined = 1;       ///< elements of the tensor for each of the result
  std::uint8_t dimensions = 0;  ///< that are reduced away, as in StrategyCall
};

/// Throws   Error{invalid_argument} where an axis is no dimension of `shape`, or is named twice.
[[nodiscard]] CHORUS_API Reduction reduction_over(std::span<const int> axes, const Shape& shape, StorageOrder order,
                                                  StorageOrder result_order);

/// What joined with any other value by `op` gives the other.
template <class T>
[[nodiscard]] constexpr T neutral(ReduceOp op) noexcept {
  using Limits = std::numeric_limits<T>;
  if (op == ReduceOp::min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  if (op == ReduceOp::max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  return T{};
}

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

/// The local replicas' shares of a reduction over their own elements, and how many these are.
template <class Less>
struct Partials {
  std::vector<Less> values = {};
  std::vector<std::uint64_t> counts = {};
  std::uint8_t dimensions = 0;  ///< as in Reduction
};

template <class Less, Leaf T>
void add_partial(Partials<Less>& partials, ReduceOp op, const T& value, std::span<const int> axes) {
  using Traits = LeafTraits<T>;
  using Scalar = typename Traits::Scalar;
  const Reduction reduction = reduction_over(axes, Traits::shape(value), Traits::order, LeafTraits<Less>::order);
  Less values = LeafTraits<Less>::make(reduction.shape);
  Scalar* const out = LeafTraits<Less>::data(values);
  std::fill_n(out, element_count(reduction.shape), neutral<Scalar>(op));
  const Scalar* const in = Traits::data(value);
  for (std::size_t i = 0; i < reduction.at.size(); ++i) {
    out[reduction.at[i]] = joined(op, out[reduction.at[i]], in[i]);
  }
  partials.values.push_back(std::move(values));
  partials.counts.push_back(reduction.joined);
  partials.dimensions = reduction.dimensions;
}

/// Reduces each of `components` over `axes`.
template <class Less, Leaf T>
[[nodiscard]] Partials<Less> reduce_own(ReduceOp op, std::span<const T> components, std::span<const int> axes) {
  using Scalar = typename LeafTraits<T>::Scalar;
  static_assert(!std::same_as<Scalar, float16_t> && !std::same_as<Scalar, bfloat16_t>,
                "sums of many 16-bit numbers lose their digits: convert them to float, then reduce over axes");
  check_operation(op, data_type_of<Scalar>(), "Strategy::reduce");
  Partials<Less> partials;
  for (const T& component : components) {
    add_partial(partials, op == ReduceOp::average ? ReduceOp::sum : op, component, axes);
  }
  return partials;
}

/// The reduction of `partials` over all replicas; `across(op, parts)` reduces a part of each local replica so.
template <class Less, class Across>
[[nodiscard]] Less join_partials(ReduceOp op, Partials<Less> partials, const Across& across) {
  using Scalar = typename LeafTraits<Less>::Scalar;
  Less result = across(op == ReduceOp::average ? ReduceOp::sum : op, std::move(partials.values));
  const std::uint64_t elements = across(ReduceOp::sum, std::move(partials.counts));
  if (elements == 0 && (op == ReduceOp::min || op == ReduceOp::max)) reject_no_elements(op);
  if (op == ReduceOp::average) {
    Scalar* const out = LeafTraits<Less>::data(result);
    const std::size_t count = element_count(LeafTraits<Less>::shape(result));
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Scalar>(out[i] / static_cast<Scalar>(elements));
  }
  return result;
}

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

/// Throws   as check_operation; Error{invalid_argument} for a sum, unless all elements are zero: what is the same on
///          each of several replicas has no sum over them.
CHORUS_API void check_same_everywhere(ReduceOp op, const LeafRefs& leaves, int replicas);

}  // namespace chorus::detail
