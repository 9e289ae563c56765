// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace chorus {

/// Memory for a reduction on its way, not initialised. The thread that ends with it keeps some for the next, as pages
/// that are new cost more than the bytes that are copied there.
class Scratch {
 public:
  Scratch() noexcept = default;
  /// Of 0 bytes it is none.
  explicit Scratch(std::size_t bytes);
  Scratch(Scratch&& other) noexcept = default;
  Scratch& operator=(Scratch&& other) noexcept = delete;
  ~Scratch();

  [[nodiscard]] std::byte* data() const noexcept { return block_.get(); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> as(std::size_t count) const noexcept { return {reinterpret_cast<T*>(data()), count}; }

 private:
  std::unique_ptr<std::byte[]> block_;
  std::size_t capacity_ = 0;
};

}  // namespace chorus
