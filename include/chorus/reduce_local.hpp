// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/detail/buffers.hpp>
#include <chorus/detail/operation.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/reduce_function.hpp>
#include <chorus/reduce_op.hpp>

namespace chorus {

namespace detail {
CHORUS_API void reduce_local(const Buffers&, const Operation&);
}

/// inout[i] = in[i] op inout[i], in this thread and without communication: as MPI_Reduce_local. `in` stands for the
/// lower ranks where a function's operands cannot be exchanged.
///
/// Shapes   in [n], inout [n]; n may be 0.
/// Memory   host, any alignment; `in` and `inout` are the same or do not overlap.
/// Throws   Error{invalid_argument} where the lengths differ, the buffers overlap in part, op does not suit the type,
///          or it is `average`, which is not made of averages: sum, and divide at the end; what a function throws.
template <ElementRange In, class InOut, class Op>
requires ElementRanges<In, InOut> && Reduces<Op, ElementOf<In>>
void reduce_local(const In& in, InOut&& inout, const Op& op) {
  detail::reduce_local(detail::buffers(in, inout), detail::operation<ElementOf<In>>(op));
}

}  // namespace chorus
