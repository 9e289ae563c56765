// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/structure.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace chorus::detail {

/// Whether an aggregate is `T` or a part of it.
template <class T>
consteval bool has_aggregate() {
  if constexpr (Leaf<T> || is_indexed_slices<T>) {
    return false;
  } else if constexpr (is_tuple<T>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_aggregate<std::tuple_element_t<I, T>>() || ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_sequence<T>) {
    return has_aggregate<typename T::value_type>();
  } else if constexpr (is_map<T>) {
    return has_aggregate<typename T::mapped_type>();
  } else {
    return Aggregate<T>;
  }
}

template <class T>
struct IsLeaf : std::bool_constant<Leaf<T>> {};

template <class T>
struct HasMore : std::false_type {};
template <class T>
requires requires { typename LeafTraits<T>::More; }
struct HasMore<T> : std::bool_constant<Leaf<typename LeafTraits<T>::More>> {};

/// A leaf with a first dimension of any length.
template <class T>
struct HasRows : std::false_type {};
template <Leaf T>
requires(LeafTraits<T>::rank >= 1) struct HasRows<T> : std::is_same<typename LeafTraits<T>::Variable, T> {
};

}  // namespace chorus::detail
