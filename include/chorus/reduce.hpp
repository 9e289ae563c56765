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

#include <ranges>
#include <span>

namespace chorus {

namespace detail {
CHORUS_API void reduce(const Communicator&, const Buffers&, const Operation&, int root, const CollectiveOptions&);
CHORUS_API Request ireduce(const Communicator&, const Buffers&, const Operation&, int root, const CollectiveOptions&);
CHORUS_API PersistentRequest reduce_init(const Communicator&, const Buffers&, const Operation&, int root,
                                         const CollectiveOptions&);
}  // namespace detail

/// Gives rank `root` the reduction over all ranks of their `in`.
///
/// Shapes   in [n], on the root out [n]; elsewhere `out` is ignored and may be empty. n, element type, op, root and
///          options the same on every rank; n may be 0.
/// Memory   host, any alignment; on the root `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `in` may be reused and, on the root, `out` may be read.
/// Result   the order of the additions is the algorithm's.
/// Throws   Error{invalid_argument} where in.size() != out.size() on the root, the buffers overlap, root is no rank or
///          op does not suit the type, before anything is sent; Error{not_supported} where the named algorithm does not
///          apply; Error{mismatch} where ranks disagree on the call (on each in the first call in which it waits for
///          one that differs); Error{timeout}, Error{peer_lost}, or Error{function_threw} of a function: `out` is then
///          unspecified and `comm` broken.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
void reduce(const Communicator& comm, const In& in, Out&& out, const Op& op, int root,
            const CollectiveOptions& options = {}) {
  detail::reduce(comm, detail::buffers(in, out), detail::operation<ElementOf<In>>(op), root, options);
}

/// The same in place: `inout` [n] holds this rank's contribution, then on the root the result; elsewhere it is
/// unchanged.
template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
void reduce(const Communicator& comm, InOut&& inout, const Op& op, int root, const CollectiveOptions& options = {}) {
  detail::reduce(comm, detail::buffers(inout), detail::operation<ElementOf<InOut>>(op), root, options);
}

/// The same for one value: returns on the root the reduction of all ranks' `value`, elsewhere `value`.
template <Element T, class Op>
requires Reduces<Op, T> &&(!std::ranges::range<T>) [[nodiscard]] T
    reduce(const Communicator& comm, T value, const Op& op, int root, const CollectiveOptions& options = {}) {
  reduce(comm, std::span<T>(&value, 1), op, root, options);
  return value;
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out, class Op>
requires DeviceSpans<In, Out> && DeviceReduces<Op, Out>
void reduce(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out, const Op& op, int root, Stream stream,
            const CollectiveOptions& options = {}) {
  detail::reduce(comm, detail::buffers(in, out, stream), detail::operation<Out>(op), root, options);
}

/// The same in place.
template <class T, class Op>
requires DeviceReduces<Op, T>
void reduce(const Communicator& comm, DeviceSpan<T> inout, const Op& op, int root, Stream stream,
            const CollectiveOptions& options = {}) {
  reduce(comm, inout, inout, op, root, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete. A function is copied.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] Request ireduce(const Communicator& comm, const In& in, Out&& out, const Op& op, int root,
                              const CollectiveOptions& options = {}) {
  return detail::ireduce(comm, detail::buffers(in, out), detail::lasting_operation<ElementOf<In>>(op), root, options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] Request ireduce(const Communicator& comm, InOut&& inout, const Op& op, int root,
                              const CollectiveOptions& options = {}) {
  return detail::ireduce(comm, detail::buffers(inout), detail::lasting_operation<ElementOf<InOut>>(op), root, options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] PersistentRequest reduce_init(const Communicator& comm, const In& in, Out&& out, const Op& op, int root,
                                            const CollectiveOptions& options = {}) {
  return detail::reduce_init(comm, detail::buffers(in, out), detail::lasting_operation<ElementOf<In>>(op), root,
                             options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] PersistentRequest reduce_init(const Communicator& comm, InOut&& inout, const Op& op, int root,
                                            const CollectiveOptions& options = {}) {
  return detail::reduce_init(comm, detail::buffers(inout), detail::lasting_operation<ElementOf<InOut>>(op), root,
                             options);
}

}  // namespace chorus
