// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/values.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>

namespace chorus {

namespace detail {
template <class T>
concept Streamable = requires(std::ostream& out, const T& value) {
  { out << value } -> std::convertible_to<std::ostream&>;
};

/// At most so many elements of a tensor are printed.
inline constexpr std::size_t most_printed = 16;

template <Number T>
void print_number(std::ostream& out, T number) {
  if constexpr (std::same_as<T, bool>)
    out << (number ? "true" : "false");
  else if constexpr (std::integral<T>)
    out << +number;  // also of one byte
  else if constexpr (Streamable<T>)
    out << number;
  else
    out << static_cast<float>(number);
}

/// [1, 2, 3] in the order of memory, of more than one dimension with the shape.
template <Leaf T>
void print_leaf(std::ostream& out, const T& leaf) {
  using Traits = LeafTraits<T>;
  const ScalarOf<T>* const elements = Traits::data(leaf);
  if constexpr (Traits::rank == 0) {
    print_number(out, *elements);
  } else {
    const Shape shape = Traits::shape(leaf);
    const std::size_t count = element_count(shape);
    if (Traits::rank > 1) out << to_string(shape) << ' ';
    out << '[';
    for (std::size_t i = 0; i < std::min(count, most_printed); ++i) {
      out << (i == 0 ? "" : ", ");
      print_number(out, elements[i]);
    }
    out << (count > most_printed ? ", ...]" : "]");
  }
}

template <class T>
void print_value(std::ostream& out, const T& value) {
  if constexpr (Leaf<T>) {
    print_leaf(out, value);
  } else if constexpr (is_indexed_slices<T>) {
    out << "slices of " << to_string(value.dense_shape) << ", rows ";
    print_leaf(out, value.indices);
    out << ", values ";
    print_leaf(out, value.values);
  } else if constexpr (Streamable<T>) {
    out << value;
  } else {
    const char* before = "{";
    for_each_leaf(value, [&](const auto& leaf, const LeafPath& path) {
      out << before << path.text() << ' ';
      print_value(out, leaf);
      before = ", ";
    });
    out << (*before == '{' ? "{}" : "}");
  }
}

template <class T>
void print_components(std::ostream& out, const char* kind, const DistributedValues<T>& values) {
  out << kind;
  int replica = values.layout().first_replica();
  const char* before = "{";
  for (const T& value : values.values()) {
    out << before << replica++ << ": ";
    print_value(out, value);
    before = ", ";
  }
  out << '}';
}

template <class T>
concept Printable = Streamable<T> || is_walkable<T>();
}  // namespace detail

// One entry for each replica of this worker, with its number among all: PerReplica{0: 1, 1: 2}. Of a tensor the first
// 16 elements in the order of memory, where it has several dimensions after its shape; of a structure each leaf.

template <detail::Printable T>
std::ostream& operator<<(std::ostream& out, const PerReplica<T>& values) {
  detail::print_components(out, "PerReplica", values);
  return out;
}
template <detail::Printable T>
std::ostream& operator<<(std::ostream& out, const Mirrored<T>& values) {
  detail::print_components(out, "Mirrored", values);
  return out;
}
/// What `out << values` prints.
template <detail::Printable T>
[[nodiscard]] std::string to_string(const PerReplica<T>& values) {
  std::ostringstream text;
  text << values;
  return text.str();
}
template <detail::Printable T>
[[nodiscard]] std::string to_string(const Mirrored<T>& values) {
  std::ostringstream text;
  text << values;
  return text.str();
}

}  // namespace chorus
