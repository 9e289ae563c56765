// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/request.hpp>

#include <span>

namespace chorus {

namespace detail {
CHORUS_API void allreduce(const Communicator&, const Buffers&, ReduceOp, const CollectiveOptions&);
CHORUS_API Request iallreduce(const Communicator&, const Buffers&, ReduceOp, const CollectiveOptions&);
}  // namespace detail

/// Gives every rank the reduction over all ranks of their `in`.
///
/// Shapes   in [n], out [n]; n, element type, op and options the same on every rank; n may be 0.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused.
/// Result   bitwise the same on every rank; the order of the additions is the algorithm's.
/// Throws   Error{invalid_argument} where in.size() != out.size(), the buffers overlap or op does not suit the
///          type, before anything is sent; Error{not_supported} where the named algorithm does not apply;
///          Error{mismatch} where ranks disagree on the call; Error{timeout} or Error{peer_lost}: `out` is then
///          unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void allreduce(const Communicator& comm, const In& in, Out&& out, ReduceOp op, const CollectiveOptions& options = {}) {
  detail::allreduce(comm, detail::buffers(in, out), op, options);
}

/// The same in place: `inout` [n] holds this rank's contribution, then the result.
template <WritableElementRange InOut>
void allreduce(const Communicator& comm, InOut&& inout, ReduceOp op, const CollectiveOptions& options = {}) {
  detail::allreduce(comm, detail::buffers(inout), op, options);
}

/// The same for one value: returns the reduction of all ranks' `value`.
template <Element T>
[[nodiscard]] T allreduce(const Communicator& comm, T value, ReduceOp op, const CollectiveOptions& options = {}) {
  allreduce(comm, std::span<T>(&value, 1), op, options);
  return value;
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request iallreduce(const Communicator& comm, const In& in, Out&& out, ReduceOp op,
                                 const CollectiveOptions& options = {}) {
  return detail::iallreduce(comm, detail::buffers(in, out), op, options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request iallreduce(const Communicator& comm, InOut&& inout, ReduceOp op,
                                 const CollectiveOptions& options = {}) {
  return detail::iallreduce(comm, detail::buffers(inout), op, options);
}

}  // namespace chorus
