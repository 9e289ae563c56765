// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/detail/fnv1a.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/detail/aggregate.hpp>
#include <chorus/strategies/detail/map_keys.hpp>
#include <chorus/strategies/indexed_slices.hpp>
#include <chorus/strategies/leaf.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {
template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class First, class Second>
inline constexpr bool is_tuple<std::pair<First, Second>> = true;
template <class T, std::size_t N>
inline constexpr bool is_tuple<std::array<T, N>> = true;

template <class T>
inline constexpr bool is_pair = false;
template <class First, class Second>
inline constexpr bool is_pair<std::pair<First, Second>> = true;

template <class T>
inline constexpr bool is_sequence = false;
template <class T, class Allocator>
inline constexpr bool is_sequence<std::vector<T, Allocator>> = !std::same_as<T, bool>;  // whose elements are no objects
}  // namespace detail

/// What a structure is made of, so that it can be walked: a leaf, IndexedSlices, a tuple (also a pair or array), a
/// vector of structures, a map of them, or an aggregate of up to 12 of them, such as
/// struct Batch { Eigen::MatrixXf images; std::vector<int> labels; };
template <class T>
concept Structure = Leaf<T> || detail::is_indexed_slices<std::remove_cv_t<T>> ||
    detail::is_tuple<std::remove_cv_t<T>> || detail::is_sequence<std::remove_cv_t<T>> ||
    detail::is_map<std::remove_cv_t<T>> || detail::Aggregate<std::remove_cv_t<T>>;

namespace detail {
/// The types of the members of an aggregate, a std::type_identity of each.
template <class T>
consteval auto field_types() {
  using Fields = decltype(with_fields(std::declval<T&>(), [](auto&... members) {
    return std::tuple<std::type_identity<std::remove_cvref_t<decltype(members)>>...>();
  }));
  return Fields();
}

/// Whether `T` is a structure, and Test<L>::value holds for the type L of each of its leaves, IndexedSlices among them.
template <template <class> class Test, class T>
consteval bool every_leaf() {
  if constexpr (Leaf<T> || is_indexed_slices<T>) {
    return Test<T>::value;
  } else if constexpr (is_tuple<T>) {
    return []<std::size_t... I>(std::index_sequence<I...> /*numbers*/) {
      return (every_leaf<Test, std::remove_cv_t<std::tuple_element_t<I, T>>>() && ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_sequence<T>) {
    return every_leaf<Test, typename T::value_type>();
  } else if constexpr (is_map<T>) {
    return every_leaf<Test, typename T::mapped_type>();
  } else if constexpr (Aggregate<T>) {
    return []<class... Fields>(std::tuple<std::type_identity<Fields>...> /*types*/) {
      return (every_leaf<Test, Fields>() && ...);
    }(field_types<T>());
  } else {
    return false;
  }
}

template <class>
struct Anything : std::true_type {};

/// True where `T` is a structure down to its leaves.
template <class T>
consteval bool is_walkable() {
  return every_leaf<Anything, T>();
}
}  // namespace detail

/// Where a part of a structure is. Its text is made where it is asked for, which is in messages only.
class LeafPath {
 public:
  /// Of the whole structure.
  LeafPath() noexcept = default;
  /// As in "[1].field0[images]"; empty for the whole structure.
  [[nodiscard]] std::string text() const {
    std::string whole = outer_ != nullptr ? outer_->text() : "";
    if (part_ != nullptr) whole.append(part_(*this));
    return whole;
  }

  // A part of what is here, which outlives it.
  [[nodiscard]] LeafPath element(std::size_t number) const noexcept {
    return {this, number, nullptr, [](const LeafPath& path) { return bracketed(std::to_string(path.number_)); }};
  }
  template <class Key>
  [[nodiscard]] LeafPath entry(const Key& key) const noexcept {
    return {this, 0, &key,
            [](const LeafPath& path) { return bracketed(detail::key_text(*static_cast<const Key*>(path.key_))); }};
  }
  [[nodiscard]] LeafPath field(std::size_t number) const noexcept {
    return {this, number, nullptr,
            [](const LeafPath& path) { return std::string(".field").append(std::to_string(path.number_)); }};
  }

 private:
  using Text = std::string (*)(const LeafPath&);
  LeafPath(const LeafPath* outer, std::size_t number, const void* key, Text part) noexcept
      : outer_(outer), number_(number), key_(key), part_(part) {}
  static std::string bracketed(const std::string& text) { return std::string("[").append(text).append("]"); }

  const LeafPath* outer_ = nullptr;
  std::size_t number_ = 0;
  const void* key_ = nullptr;
  Text part_ = nullptr;
};

namespace detail {
/// Calls `visit(part, path)` for every part of `structure` that is none itself, in their order, whether it is a leaf or
/// not.
template <class T, class Visit>
void for_each_part(T& structure, Visit&& visit, const LeafPath& path) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (Leaf<Plain> || is_indexed_slices<Plain>) {
    visit(structure, path);
  } else if constexpr (is_tuple<Plain>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (for_each_part(std::get<I>(structure), visit, path.element(I)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Plain>>());
  } else if constexpr (is_sequence<Plain>) {
    for (std::size_t i = 0; i < structure.size(); ++i) for_each_part(structure[i], visit, path.element(i));
  } else if constexpr (is_map<Plain>) {
    for (auto& [key, part] : structure) for_each_part(part, visit, path.entry(key));
  } else if constexpr (Aggregate<Plain>) {
    std::size_t number = 0;
    for_each_field(structure, [&](auto& field) { for_each_part(field, visit, path.field(number++)); });
  } else {
    visit(structure, path);
  }
}
}  // namespace detail

/// Calls `visit(leaf, path)` for every leaf of `structure`, IndexedSlices among them, in the order of its parts; `path`
/// is a LeafPath, which lives as long as the call.
template <class T, class Visit>
void for_each_leaf(T& structure, Visit&& visit, const LeafPath& path = {}) {
  static_assert(detail::is_walkable<std::remove_cv_t<T>>(),
                "a structure is a leaf, tuple, vector, map or aggregate of structures");
  detail::for_each_part(structure, visit, path);
}

/// What a structure is made of: its tensors and its IndexedSlices, each in their order.
struct LeafRefs {
  std::vector<TensorRef> tensors = {};
  std::vector<SlicesRef> slices = {};
};
template <Structure T>
[[nodiscard]] LeafRefs leaves_of(T& structure) {
  LeafRefs leaves;
  for_each_leaf(structure, [&]<class L>(L& leaf, const LeafPath& /*path*/) {
    if constexpr (Leaf<L>)
      leaves.tensors.push_back(tensor_ref(leaf));
    else
      leaves.slices.push_back(SlicesRef(leaf));
  });
  return leaves;
}

/// Its tensors only.
template <Structure T>
[[nodiscard]] std::vector<TensorRef> tensors_of(T& structure) {
  return leaves_of(structure).tensors;
}

/// The paths of all parts of `structure` that are none themselves, leaves or not, for messages.
template <Structure T>
[[nodiscard]] std::vector<std::string> paths_of(T& structure) {
  std::vector<std::string> paths;
  const auto add = [&](auto& /*part*/, const LeafPath& path) { paths.push_back(path.text()); };
  detail::for_each_part(structure, add, LeafPath());
  return paths;
}

namespace detail {

/// The paths of its tensors only.
template <Structure T>
[[nodiscard]] std::vector<std::string> tensor_paths_of(T& structure) {
  std::vector<std::string> paths;
  for_each_leaf(structure, [&]<class L>(L& /*leaf*/, const LeafPath& path) {
    if constexpr (Leaf<L>) paths.push_back(path.text());
  });
  return paths;
}

/// Whether structures of this type can differ: by the lengths of vectors or the keys of maps.
template <class T>
consteval bool may_differ() {
  if constexpr (Leaf<T> || is_indexed_slices<T>) {
    return false;
  } else if constexpr (is_tuple<T>) {
    return []<std::size_t... I>(std::index_sequence<I...> /*numbers*/) {
      return (may_differ<std::remove_cv_t<std::tuple_element_t<I, T>>>() || ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (Aggregate<T>) {
    return []<class... Fields>(std::tuple<std::type_identity<Fields>...> /*types*/) {
      return (may_differ<Fields>() || ...);
    }(field_types<T>());
  } else {
    return is_sequence<T> || is_map<T>;
  }
}

/// Adds what can differ between structures of one type to `hash`.
template <class T>
void add_structure(Fnv1a& hash, const T& structure) {
  if constexpr (!may_differ<T>()) {
    return;
  } else if constexpr (is_tuple<T>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add_structure(hash, std::get<I>(structure)), ...); }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_sequence<T>) {
    hash.add(structure.size());
    for (const auto& part : structure) add_structure(hash, part);
  } else if constexpr (is_map<T>) {
    hash.add(structure.size());
    for (const auto& [key, part] : structure) {
      add_key(hash, key);
      add_structure(hash, part);
    }
  } else {
    for_each_field(structure, [&](const auto& field) { add_structure(hash, field); });
  }
}

/// A number that is the same, on every machine, for two structures of one type whose vectors have the same lengths and
/// whose maps have the same keys.
template <Structure T>
[[nodiscard]] std::uint64_t structure_number(const T& structure) {
  Fnv1a hash;
  add_structure(hash, structure);
  return hash.value();
}

/// A tuple (also a pair or array), vector or map like `structure`, of `function(part)` for each of its parts.
template <class Function, class T>
auto map_parts(const Function& function, T& structure) {
  using Plain = std::remove_const_t<T>;
  if constexpr (is_pair<Plain>) {
    return std::make_pair(function(structure.first), function(structure.second));
  } else if constexpr (is_tuple<Plain> && !requires { typename Plain::value_type; }) {
    return std::apply([&](auto&... parts) { return std::make_tuple(function(parts)...); }, structure);
  } else if constexpr (is_tuple<Plain>) {
    using Mapped = std::decay_t<decltype(function(structure[0]))>;
    return std::apply([&](auto&... parts) { return std::array<Mapped, sizeof...(parts)>{function(parts)...}; },
                      structure);
  } else if constexpr (is_map<Plain>) {
    auto mapped = empty_map_like<std::decay_t<decltype(function(structure.begin()->second))>>(structure);
    for (auto& [key, part] : structure) mapped.emplace(key, function(part));
    return mapped;
  } else {
    std::vector<std::decay_t<decltype(function(structure[0]))>> mapped;
    for (auto& part : structure) mapped.push_back(function(part));
    return mapped;
  }
}

template <class Function, class T>
auto map_leaves(const Function& function, const T& structure) {
  if constexpr (Leaf<T> || is_indexed_slices<T>) {
    return function(structure);
  } else if constexpr (is_tuple<T> || is_sequence<T> || is_map<T>) {
    return map_parts([&](const auto& part) { return map_leaves(function, part); }, structure);
  } else {
    static_assert(Aggregate<T>, "a structure is a leaf, tuple, vector, map or aggregate of structures");
    return with_fields(structure, [&](const auto&... members) { return T{map_leaves(function, members)...}; });
  }
}

}  // namespace detail

/// The structure of `function(leaf)` for every leaf of `structure`. In an aggregate the function must give each leaf's
/// own type, as its members cannot change theirs.
template <class Function, Structure T>
[[nodiscard]] auto map_structure(const Function& function, const T& structure) {
  return detail::map_leaves(function, structure);
}

}  // namespace chorus
