// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace chorus::preload {

/// A value for each of `ranks`, for one call: without memory of the heap where they are few. `of(rank)` makes them.
template <class T>
class PerRank {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  template <class Of>
  PerRank(std::size_t ranks, Of of) : ranks_(ranks) {
    if (ranks > few) many_ = std::make_unique<std::byte[]>(ranks * sizeof(T));
    for (std::size_t rank = 0; rank < ranks; ++rank) new (begin() + rank) T(of(rank));
  }
  PerRank(const PerRank&) = delete;
  PerRank& operator=(const PerRank&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return ranks_; }
  [[nodiscard]] const T& operator[](std::size_t rank) const noexcept { return begin()[rank]; }
  [[nodiscard]] std::span<const T> all() const noexcept { return {begin(), ranks_}; }

 private:
  static constexpr std::size_t few = 8;

  [[nodiscard]] const T* begin() const noexcept { return reinterpret_cast<const T*>(many_ ? many_.get() : few_); }
  [[nodiscard]] T* begin() noexcept { return reinterpret_cast<T*>(many_ ? many_.get() : few_); }

  std::size_t ranks_;
  std::unique_ptr<std::byte[]> many_;
  alignas(T) std::byte few_[few * sizeof(T)];
};

}  // namespace chorus::preload
