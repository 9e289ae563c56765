// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/values.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::detail {

template <class T>
concept Distributed = requires {
  typename T::value_type;
  requires std::derived_from<T, DistributedValues<typename T::value_type>>;
};

/// True where a DistributedValues is somewhere inside of a tuple (also a pair or array), vector or map.
template <class T>
struct HoldsDistributed : std::bool_constant<Distributed<T>> {};
template <class... T>
struct HoldsDistributed<std::tuple<T...>> : std::disjunction<HoldsDistributed<T>...> {};
template <class First, class Second>
struct HoldsDistributed<std::pair<First, Second>>
    : std::disjunction<HoldsDistributed<First>, HoldsDistributed<Second>> {};
template <class T, std::size_t N>
struct HoldsDistributed<std::array<T, N>> : HoldsDistributed<T> {};
template <class T, class Allocator>
struct HoldsDistributed<std::vector<T, Allocator>> : HoldsDistributed<T> {};
template <class Key, class T, class Compare, class Allocator>
struct HoldsDistributed<std::map<Key, T, Compare, Allocator>> : HoldsDistributed<T> {};

/// Such a tuple, vector or map.
template <class T>
concept HoldsDistributedValues = HoldsDistributed<T>::value && !Distributed<T>;

/// Calls check(number of components) for each DistributedValues that `argument` is or holds.
template <class T, class Check>
void for_each_distributed(const T& argument, const Check& check) {
  if constexpr (Distributed<T>) {
    check(argument.values().size());
    if constexpr (Distributed<typename T::value_type>) {
      for (const auto& part : argument.values()) for_each_distributed(part, check);
    }
  } else if constexpr (!HoldsDistributed<T>::value) {
    return;
  } else if constexpr (is_tuple<T>) {
    std::apply([&](const auto&... parts) { (for_each_distributed(parts, check), ...); }, argument);
  } else if constexpr (is_map<T>) {
    for (const auto& [key, part] : argument) for_each_distributed(part, check);
  } else {
    for (const auto& part : argument) for_each_distributed(part, check);
  }
}

/// The argument as the local replica `replica` gets it: its component where it is distributed, a copy with the
/// components in their places where those are inside of a structure, and else the argument itself.
template <class T>
decltype(auto) component_of(T& argument, [[maybe_unused]] int replica) {
  using Plain = std::remove_const_t<T>;
  if constexpr (Distributed<Plain>) {
    if constexpr (Distributed<typename Plain::value_type>)  // of a replica that gave a distributed value itself
      return component_of(argument[static_cast<std::size_t>(replica)], replica);
    else
      return argument[static_cast<std::size_t>(replica)];
  } else if constexpr (!HoldsDistributed<Plain>::value) {
    return (argument);
  } else {
    return map_parts([replica](auto& part) -> decltype(auto) { return component_of(part, replica); }, argument);
  }
}

}  // namespace chorus::detail
