// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace chorus {

/// How many elements a dataset gives each time: a number, endlessly many, or what only reading it tells.
class Cardinality {
 public:
  [[nodiscard]] static constexpr Cardinality known(std::size_t count) noexcept { return {count, false}; }
  [[nodiscard]] static constexpr Cardinality unknown() noexcept { return {std::nullopt, false}; }
  [[nodiscard]] static constexpr Cardinality infinite() noexcept { return {std::nullopt, true}; }

  /// The number, where it is known.
  [[nodiscard]] constexpr std::optional<std::size_t> count() const noexcept { return count_; }
  [[nodiscard]] constexpr bool is_infinite() const noexcept { return infinite_; }
  bool operator==(const Cardinality&) const = default;

  /// That of a dataset which makes `function(count)` elements of `count`, and infinitely many of infinitely many.
  template <class Function>
  [[nodiscard]] constexpr Cardinality changed(const Function& function) const {
    return count_ ? known(function(*count_)) : *this;
  }

 private:
  constexpr Cardinality(std::optional<std::size_t> count, bool infinite) noexcept
      : count_(count), infinite_(infinite) {}

  std::optional<std::size_t> count_;
  bool infinite_;
};

}  // namespace chorus
