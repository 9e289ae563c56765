// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace chorus {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// The bytes of one object.
template <class T>
[[nodiscard]] ConstBytes bytes_of(const T& object) noexcept {
  return std::as_bytes(std::span<const T, 1>(&object, 1));
}
template <class T>
[[nodiscard]] Bytes writable_bytes_of(T& object) noexcept {
  return std::as_writable_bytes(std::span<T, 1>(&object, 1));
}

}  // namespace chorus
