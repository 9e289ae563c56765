// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/detail/operation.hpp>
#include <chorus/device_span.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/premultiplied_sum.hpp>
#include <chorus/reduce_function.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/request.hpp>

#include <span>

namespace chorus {

namespace detail {
CHORUS_API void allreduce(const Communicator&, const Buffers&, const Operation&, const CollectiveOptions&);
CHORUS_API Request iallreduce(const Communicator&, const Buffers&, const Operation&, const CollectiveOptions&);
CHORUS_API PersistentRequest allreduce_init(const Communicator&, const Buffers&, const Operation&,
                                            const CollectiveOptions&);
}  // namespace detail

/// Gives every rank the reduction over all ranks of their `in`.
///
/// Shapes   in [n], out [n]; n, element type, op and options the same on every rank; n may be 0.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused.
/// Result   bitwise the same on every rank; the order of the additions is the algorithm's, unless
///          the options ask for reproducible sums.
/// Throws   Error{invalid_argument} where in.size() != out.size(), the buffers overlap or op does not suit the type,
///          before anything is sent; Error{not_supported} where the named algorithm does not apply; Error{mismatch}
///          where ranks disagree on the call; Error{timeout}, Error{peer_lost}, or Error{function_threw} of a function:
///          `out` is then unspecified and `comm` broken.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
void allreduce(const Communicator& comm, const In& in, Out&& out, const Op& op, const CollectiveOptions& options = {}) {
  detail::allreduce(comm, detail::buffers(in, out), detail::operation<ElementOf<In>>(op), options);
}

/// The same in place: `inout` [n] holds this rank's contribution, then the result.
template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
void allreduce(const Communicator& comm, InOut&& inout, const Op& op, const CollectiveOptions& options = {}) {
  detail::allreduce(comm, detail::buffers(inout), detail::operation<ElementOf<InOut>>(op), options);
}

/// The same for one value: returns the reduction of all ranks' `value`.
template <Element T, class Op>
requires Reduces<Op, T> &&(!std::ranges::range<T>) [[nodiscard]] T
    allreduce(const Communicator& comm, T value, const Op& op, const CollectiveOptions& options = {}) {
  allreduce(comm, std::span<T>(&value, 1), op, options);
  return value;
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out, class Op>
requires DeviceSpans<In, Out> && DeviceReduces<Op, Out>
void allreduce(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out, const Op& op, Stream stream,
               const CollectiveOptions& options = {}) {
  detail::allreduce(comm, detail::buffers(in, out, stream), detail::operation<Out>(op), options);
}

/// The same in place.
template <class T, class Op>
requires DeviceReduces<Op, T>
void allreduce(const Communicator& comm, DeviceSpan<T> inout, const Op& op, Stream stream,
               const CollectiveOptions& options = {}) {
  allreduce(comm, inout, inout, op, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete. A function is copied.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] Request iallreduce(const Communicator& comm, const In& in, Out&& out, const Op& op,
                                 const CollectiveOptions& options = {}) {
  return detail::iallreduce(comm, detail::buffers(in, out), detail::lasting_operation<ElementOf<In>>(op), options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] Request iallreduce(const Communicator& comm, InOut&& inout, const Op& op,
                                 const CollectiveOptions& options = {}) {
  return detail::iallreduce(comm, detail::buffers(inout), detail::lasting_operation<ElementOf<InOut>>(op), options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] PersistentRequest allreduce_init(const Communicator& comm, const In& in, Out&& out, const Op& op,
                                               const CollectiveOptions& options = {}) {
  return detail::allreduce_init(comm, detail::buffers(in, out), detail::lasting_operation<ElementOf<In>>(op), options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] PersistentRequest allreduce_init(const Communicator& comm, InOut&& inout, const Op& op,
                                               const CollectiveOptions& options = {}) {
  return detail::allreduce_init(comm, detail::buffers(inout), detail::lasting_operation<ElementOf<InOut>>(op), options);
}

}  // namespace chorus
