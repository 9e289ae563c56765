// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace chorus::detail {

/// Converts to whatever a member wants; never evaluated.
struct AnyMember {
  template <class T>
  operator T() const noexcept;  // NOLINT(google-explicit-constructor): that is what it is for
};

/// Converts to the bases of `T` alone; never evaluated.
template <class T>
struct AnyBaseOf {
  template <class Base>
  requires(std::is_base_of_v<Base, T> && !std::same_as<Base, T>) operator Base()
      const noexcept;  // NOLINT(google-explicit-constructor): that is what it is for
};

template <class T, class... Members>
concept InitializedBy = requires {
  T{std::declval<Members>()...};
};

inline constexpr std::size_t most_fields = 12;

template <class T, std::size_t... I>
consteval bool takes_members(std::index_sequence<I...> /*numbers*/) {
  return InitializedBy<T, decltype((static_cast<void>(I), AnyMember{}))...>;
}

/// How many members `T` has: the most values that initialise it; more than most_fields: one more than those.
template <class T>
consteval std::size_t field_count() {
  std::size_t most = 0;
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    ((takes_members<T>(std::make_index_sequence<N>()) ? most = N : most), ...);
  }
  (std::make_index_sequence<most_fields + 2>());
  return most;
}

/// Whether `T` takes two values in braces after some members, and before others.
template <class T, std::size_t... Before, std::size_t... After>
consteval bool takes_pair(std::index_sequence<Before...> /*before*/, std::index_sequence<After...> /*after*/) {
  return requires {
    T{(static_cast<void>(Before), AnyMember())...,
      {AnyMember(), AnyMember()},
      (static_cast<void>(After), AnyMember())...};
  };
}

/// Whether a member is a C array of two elements at least. Each of these counts as a field, as one may leave out the
/// braces; in braces they take the places of two.
template <class T>
consteval bool has_array() {
  constexpr std::size_t fields = field_count<T>();
  if constexpr (fields < 2) {
    return false;
  } else {
    return []<std::size_t... I>(std::index_sequence<I...> /*numbers*/) {
      return ((takes_pair<T>(std::make_index_sequence<I>(), std::index_sequence<>()) &&
               !takes_pair<T>(std::make_index_sequence<I>(), std::make_index_sequence<fields - I - 1>())) ||
              ...);
    }
    (std::make_index_sequence<fields - 1>());
  }
}

/// A struct whose members can be named one by one: up to 12, no base classes, C arrays, constructors or private
/// members.
template <class T>
concept Aggregate = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<T> &&
                    !InitializedBy<T, AnyBaseOf<T>> && field_count<T>() > 0 && field_count<T>() <= most_fields &&
                    !has_array<T>();

/// What `function` returns of all members of `aggregate` in their order.
template <class T, class Function>
constexpr decltype(auto) with_fields(T& aggregate, Function&& function) {
  constexpr std::size_t fields = field_count<std::remove_const_t<T>>();
  if constexpr (fields == 1) {
    auto& [a] = aggregate;
    return function(a);
  } else if constexpr (fields == 2) {
    auto& [a, b] = aggregate;
    return function(a, b);
  } else if constexpr (fields == 3) {
    auto& [a, b, c] = aggregate;
    return function(a, b, c);
  } else if constexpr (fields == 4) {
    auto& [a, b, c, d] = aggregate;
    return function(a, b, c, d);
  } else if constexpr (fields == 5) {
    auto& [a, b, c, d, e] = aggregate;
    return function(a, b, c, d, e);
  } else if constexpr (fields == 6) {
    auto& [a, b, c, d, e, f] = aggregate;
    return function(a, b, c, d, e, f);
  } else if constexpr (fields == 7) {
    auto& [a, b, c, d, e, f, g] = aggregate;
    return function(a, b, c, d, e, f, g);
  } else if constexpr (fields == 8) {
    auto& [a, b, c, d, e, f, g, h] = aggregate;
    return function(a, b, c, d, e, f, g, h);
  } else if constexpr (fields == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = aggregate;
    return function(a, b, c, d, e, f, g, h, i);
  } else if constexpr (fields == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = aggregate;
    return function(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (fields == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = aggregate;
    return function(a, b, c, d, e, f, g, h, i, j, k);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = aggregate;
    return function(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

/// Calls `visit` with each member of `aggregate` in their order.
template <class T, class Visit>
constexpr void for_each_field(T& aggregate, Visit&& visit) {
  with_fields(aggregate, [&](auto&... members) { (visit(members), ...); });
}

}  // namespace chorus::detail
