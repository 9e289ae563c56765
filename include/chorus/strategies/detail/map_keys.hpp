// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/detail/fnv1a.hpp>
#include <chorus/float16.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

// The keys of maps, as messages and names show them and as structures are compared by them.
namespace chorus::detail {

template <class T>
inline constexpr bool is_map = false;
template <class Key, class T, class Compare, class Allocator>
inline constexpr bool is_map<std::map<Key, T, Compare, Allocator>> = true;

/// A map of `Mapped` without entries, with the keys and the order of `map`.
template <class Mapped, class Key, class T, class Compare, class Allocator>
std::map<Key, Mapped, Compare> empty_map_like(const std::map<Key, T, Compare, Allocator>& map) {
  return std::map<Key, Mapped, Compare>(map.key_comp());
}

/// A pair, tuple or array.
template <class Key>
concept KeyOfParts = requires {
  std::tuple_size<Key>::value;
};
template <class Key>
concept FloatingKey = std::floating_point<ComputedIn<Key>>;

/// The shortest text that is read back as the same number. A map takes -0 and 0 for the same key.
template <std::floating_point Key>
std::string number_text(Key key) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), key == 0 ? Key{} : key);
  return {text.data(), end.ptr};
}

template <class Key>
std::string key_text(const Key& key) {
  constexpr bool has_number = requires { std::to_string(key); };
  if constexpr (std::convertible_to<const Key&, std::string>) {
    return key;
  } else if constexpr (std::convertible_to<const Key&, std::string_view>) {
    return std::string(std::string_view(key));
  } else if constexpr (std::is_enum_v<Key>) {
    return std::to_string(static_cast<std::underlying_type_t<Key>>(key));
  } else if constexpr (FloatingKey<Key>) {
    return number_text(static_cast<ComputedIn<Key>>(key));
  } else if constexpr (KeyOfParts<Key>) {
    std::string text;
    const auto add = [&](const auto& part) { text.append(text.empty() ? "" : ", ").append(key_text(part)); };
    std::apply([&](const auto&... parts) { (add(parts), ...); }, key);
    return "(" + text + ")";
  } else {
    static_assert(has_number, "the keys of a map are texts, numbers, enumerators, or pairs and tuples of these");
    if constexpr (has_number) return std::to_string(key);
  }
}

template <class Key>
void add_key(Fnv1a& hash, const Key& key) {
  if constexpr (std::convertible_to<const Key&, std::string_view>)
    hash.add(std::string_view(key));
  else if constexpr (KeyOfParts<Key> && !std::convertible_to<const Key&, std::string>)
    std::apply([&](const auto&... parts) { (add_key(hash, parts), ...); }, key);
  else
    hash.add(key_text(key));
}

}  // namespace chorus::detail
