// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scratch.hpp"

#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/leaf.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace chorus {

/// Which tensors are reduced together, by their numbers.
using Packs = std::vector<std::vector<std::size_t>>;

/// Tensors of one type in their order, in packs of at most as many bytes as the options say: a tensor that is larger is
/// alone. The same on every replica that has the same tensors. Where the library decides, packs are sent about as fast
/// as one large tensor; between replicas that share memory only short tensors are packed, as a call there takes less
/// than copying longer ones.
[[nodiscard]] Packs packs_of(std::span<const TensorRef> tensors, const CommunicationOptions& options, bool in_memory);

/// The tensors of a pack side by side in memory, as one tensor; a single one as it is.
class Packed {
 public:
  Packed(std::span<const TensorRef> tensors, std::span<const std::size_t> pack);
  [[nodiscard]] const TensorRef& tensor() const noexcept { return tensor_; }
  /// Copies the elements back to where they came from.
  void unpack() const;

 private:
  /// How many are copied: a single tensor is not.
  static std::size_t bytes_of(std::span<const TensorRef> tensors, std::span<const std::size_t> pack);

  std::vector<TensorRef> parts_;
  Scratch memory_;
  TensorRef tensor_;
};

}  // namespace chorus
