// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/bytes.hpp"
#include "base/machine.hpp"
#include "kernels/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace chorus {

/// The reduction of a call, applied to bytes. `average` adds; the door divides the final result.
class Reduction {
 public:
  explicit Reduction(const Arguments& arguments) noexcept
      : element_(arguments.call.element_bytes()),
        element_log2_(std::countr_zero(element_)),
        reduce_(kernel_of(arguments)),
        join_(arguments.join),
        function_(arguments.function) {}

  /// left = left op right.
  void into_left(Bytes left, ConstBytes right) const { join(left.data(), left, right); }
  /// right = left op right: for algorithms in which both partners reduce and must get the same bits.
  void into_right(ConstBytes left, Bytes right) const { join(right.data(), left, right); }
  /// out = inputs[0] op inputs[1] op ..., `bytes` long; `out` may be one of the inputs.
  void all(std::byte* out, std::span<const std::byte* const> inputs, std::size_t bytes) const {
    if (join_ == nullptr) {
      reduce_(out, inputs, bytes >> element_log2_, kernels::Store::cached);
    } else {
      join_all(out, inputs, bytes / element_);
    }
  }

 private:
  static kernels::Reduce kernel_of(const Arguments& arguments) noexcept {
    if (arguments.join != nullptr) return nullptr;
    if (arguments.call.repeatability == Repeatability::reproducible) return kernels::exact_sum(arguments.call.type);
    return kernels::reduce(arguments.call.type, arguments.call.op);
  }

  void join(std::byte* out, ConstBytes left, ConstBytes right) const {
    const std::byte* inputs[] = {left.data(), right.data()};
    all(out, inputs, left.size());
  }

  /// The caller's function: right = left op right.
  void call(const std::byte* left, std::byte* right, std::size_t count) const;
  /// Block by block, so that `out` is written only when the inputs of that place have been read.
  void join_all(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count) const;

  std::size_t element_;
  int element_log2_;  // of MPI's types, whose sizes are powers of two
  kernels::Reduce reduce_;
  detail::Operation::Join join_;
  const void* function_;
};

/// How much of `call` is reduced at a time where the result is then copied on: whole elements that are still in the
/// first-level cache.
[[nodiscard]] inline std::size_t block_copied_on(const Call& call) noexcept {
  return std::max(call.whole_bytes(machine::near_piece), call.element_bytes());
}

/// Copies `bytes` unless source and destination are the same; `bytes` may be 0.
inline void copy_unless_same(std::byte* out, const std::byte* in, std::size_t bytes) noexcept {
  if (out != in && bytes > 0) kernels::copy(out, in, bytes, kernels::Store::cached);
}

/// What it takes to copy the own block of `call` so, as bytes written into shared memory: half where it stays in the
/// caches of a core.
[[nodiscard]] inline double kept_bytes(const Call& call) noexcept {
  return (call.bytes() < machine::long_block ? 0.5 : 1) * static_cast<double>(call.bytes());
}

}  // namespace chorus
