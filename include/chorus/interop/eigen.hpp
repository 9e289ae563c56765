// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/error.hpp>

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

namespace chorus {

/// An Eigen object whose coefficients lie in memory: a matrix, array, vector, map, Ref, block, transpose, ... and no
/// sum or product, which is only computed when it is assigned.
template <class T>
concept EigenStored = Element<typename T::Scalar> &&(T::Flags& Eigen::DirectAccessBit) != 0 && requires(T& object) {
  object.data();
  object.outerStride();
};

/// The coefficients of `object` in the order of memory, as an argument for every collective:
///
///     allreduce(comm, elements(gradient), ReduceOp::sum);
///     allgather(comm, elements(column), elements(table));  // column r of `table` is rank r's
///
/// Shapes   object.size() elements, column after column, of row-major objects row after row. A collective sees no
///          shapes: between objects of different storage order coefficients change places, as in Map, not as in `=`.
/// Memory   nothing is copied; the span is good as long as the coefficients of `object`. Those of a temporary matrix
///          can only be read: `allreduce(comm, elements((a + b).eval()), elements(sum), ReduceOp::sum)`.
/// Throws   Error{invalid_argument} where the coefficients do not lie side by side, as in a row of a matrix of columns.
template <class Object>
requires EigenStored<std::remove_cvref_t<Object>>
[[nodiscard]] auto elements(Object&& object) {
  using Stored = std::remove_cvref_t<Object>;
  const bool inner_together = object.innerSize() <= 1 || object.innerStride() == 1;
  const bool outer_together = object.outerSize() <= 1 || object.outerStride() == object.innerSize();
  if (object.size() != 0 && !(inner_together && outer_together)) {
    throw Error(ErrorCode::invalid_argument,
                "elements: the coefficients of the " + std::to_string(object.rows()) + " x " +
                    std::to_string(object.cols()) + " object do not lie side by side (its inner stride is " +
                    std::to_string(object.innerStride()) + ", its outer stride " +
                    std::to_string(object.outerStride()) + "): pass a copy, object.eval(), and assign results back");
  }
  using Data = std::remove_pointer_t<decltype(object.data())>;
  constexpr bool lost_afterwards =
      !std::is_lvalue_reference_v<Object> && std::derived_from<Stored, Eigen::PlainObjectBase<Stored>>;
  return std::span<std::conditional_t<lost_afterwards, const Data, Data>>(object.data(),
                                                                          static_cast<std::size_t>(object.size()));
}

}  // namespace chorus
