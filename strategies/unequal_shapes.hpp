// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/strategies/leaf.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace chorus::detail {

/// A replica's number among all, and its component of what is to be reduced.
struct ReplicaTensor {
  std::size_t replica;
  const TensorRef& tensor;
};

/// Throws Error{invalid_argument}: `what`, a call or its leaf, is of two tensors that cannot be reduced together.
[[noreturn]] inline void reject_unequal(std::string_view what, const ReplicaTensor& first, const ReplicaTensor& other) {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{}: replica {} has {} elements of shape {}, replica {} {} of shape {}: only equal shapes are "
                  "reduced element by element; name the axes to reduce over, or gather",
                  what, first.replica, name(first.tensor.type), to_string(first.tensor.shape), other.replica,
                  name(other.tensor.type), to_string(other.tensor.shape)));
}

}  // namespace chorus::detail
