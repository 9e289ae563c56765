// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/detail/leaf_types.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/structure.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::detail {

/// A structure to be gathered: for each leaf its components on this worker, and what makes the tensor that the
/// components of all replicas are put into.
struct Gathering {
  struct Part {
    std::vector<TensorRef> components = {};
    std::function<TensorRef(const Shape&)> make = {};
  };
  const char* function = "";  ///< what is called, for messages
  std::vector<Part> parts = {};
  std::uint64_t structure = 0;  ///< checked_structure
  /// Of the leaves, for messages.
  std::function<std::vector<std::string>()> paths = {};
};

template <class T>
struct IsNoSlices : std::bool_constant<!is_indexed_slices<T>> {};
template <class T>
struct HasDimensions : std::true_type {};
template <Leaf T>
struct HasDimensions<T> : std::bool_constant<(LeafTraits<T>::rank > 0)> {};

template <class T>
consteval void check_gathers() {
  static_assert(is_walkable<T>(), "gather joins tensors, or tuples, vectors, maps and aggregates of them");
  static_assert(every_leaf<HasDimensions, T>(), "gather joins tensors along a dimension: single values have none");
  static_assert(!has_aggregate<T>() || !every_leaf<IsNoSlices, T>() || every_leaf<HasRows, T>(),
                "the members of an aggregate keep their types: give those that are gathered dimensions of any length");
}

/// The structure of what `structure` is gathered to, without elements yet.
template <Structure T>
auto nothing_gathered(const T& structure) {
  return map_structure(
      []<class L>(const L& /*leaf*/) {
        using Variable = typename LeafTraits<L>::Variable;
        return LeafTraits<Variable>::make(Shape(static_cast<std::size_t>(LeafTraits<L>::rank), 0));
      },
      structure);
}

/// What gathers `components`, of the replicas from number `first_replica` on, to `gathered`, their nothing_gathered,
/// for a call of `function`.
///
/// Throws   Error{mismatch} where their structures differ.
template <Structure T, class G>
Gathering gathering_of(const char* function, std::span<T> components, int first_replica, G& gathered) {
  ReplicaLeaves leaves = leaves_of_components(components, first_replica, function);
  Gathering gathering{.function = function, .structure = leaves.structure};
  for (std::vector<TensorRef>& leaf : leaves.tensors) gathering.parts.push_back({std::move(leaf), {}});
  std::size_t next = 0;
  for_each_leaf(gathered, [&]<class L>(L& leaf, const LeafPath& /*path*/) {
    gathering.parts[next++].make = [&leaf](const Shape& shape) {
      leaf = LeafTraits<L>::make(shape);
      return tensor_ref(leaf);
    };
  });
  gathering.paths = [components] { return paths_of(components.front()); };
  return gathering;
}

}  // namespace chorus::detail
