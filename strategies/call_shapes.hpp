// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/detail/structure_parts.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/strategy_call.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

// The types and shapes of the tensors that a call is made of: compared by a checksum of 15 bits, which is all that the
// number of its purpose has room for, and named in messages as far as this process knows what it stands for.
namespace chorus::detail {

/// 15 bits that stand for StrategyCall::structure; 0 for none.
[[nodiscard]] std::uint32_t checksum_of_structure(std::uint64_t structure) noexcept;

/// That in the number of a purpose (StrategyCall::purpose) of tensors; 0 in others.
[[nodiscard]] std::uint32_t checksum_in(std::uint32_t purpose) noexcept;

/// Adds the type and the shape of `tensor` to a number that is the same where those are, and most often different
/// elsewhere.
void add_shape(std::uint64_t& number, const TensorRef& tensor) noexcept;

/// True where remember_shapes has been given this checksum lately.
[[nodiscard]] bool knows_shapes(std::uint32_t checksum) noexcept;
void remember_shapes(std::uint32_t checksum, std::string text);
/// What was remembered; where nothing was, the checksum and who knows what it stands for.
[[nodiscard]] std::string tensors_of(std::uint32_t checksum);

/// The types and shapes of as many tensors as a message has room for, one after the other.
class ShapesText {
 public:
  void add(const TensorRef& tensor);
  /// `structure`: what they are parts of, as a number, whose parts are named where they are known; 0: nothing that may
  /// differ.
  [[nodiscard]] std::string text(std::uint64_t structure) const;

 private:
  std::size_t count_ = 0;
  std::string text_ = {};
};

/// Makes `call`, whose structure is the number of what holds them, a call of `tensors`; `projection` gives the
/// TensorRef of each.
template <class Tensors, class Projection = std::identity>
void set_shapes(StrategyCall& call, const Tensors& tensors, const Projection& projection = {}) {
  std::uint64_t number = call.structure ^ 0xcbf29ce484222325U;
  for (const auto& each : tensors) add_shape(number, projection(each));
  const std::uint32_t checksum = checksum_of_structure(number);
  if (!knows_shapes(checksum)) {
    ShapesText shapes;
    for (const auto& each : tensors) shapes.add(projection(each));
    remember_shapes(checksum, shapes.text(call.structure));
  }
  call.structure = number;
}

}  // namespace chorus::detail
