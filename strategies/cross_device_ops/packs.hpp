// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/leaf.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace chorus {

/// Which tensors are reduced together, by their numbers.
using Packs = std::vector<std::vector<std::size_t>>;

/// Tensors of one type in their order, in packs of at most `bytes_per_pack` bytes: a tensor that is larger is alone.
/// The same on every replica that has the same tensors. 0: packs that are sent about as fast as one large tensor.
[[nodiscard]] Packs packs_of(std::span<const TensorRef> tensors, std::size_t bytes_per_pack);

/// The tensors of a pack side by side in memory, as one tensor; a single one as it is.
class Packed {
 public:
  Packed(std::span<const TensorRef> tensors, std::span<const std::size_t> pack);
  [[nodiscard]] const TensorRef& tensor() const noexcept { return tensor_; }
  /// Copies the elements back to where they came from.
  void unpack() const;

 private:
  std::vector<TensorRef> parts_;
  std::vector<std::byte> memory_;
  TensorRef tensor_;
};

}  // namespace chorus
