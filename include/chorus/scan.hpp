// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/detail/operation.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/reduce_function.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/request.hpp>

#include <ranges>
#include <span>

namespace chorus {

namespace detail {
CHORUS_API void scan(const Communicator&, const Buffers&, const Operation&, const CollectiveOptions&);
CHORUS_API Request iscan(const Communicator&, const Buffers&, const Operation&, const CollectiveOptions&);
CHORUS_API PersistentRequest scan_init(const Communicator&, const Buffers&, const Operation&, const CollectiveOptions&);
}  // namespace detail

/// Gives each rank the reduction of `in` over the ranks up to and including itself.
///
/// Shapes   in [n], out [n]; n, element type, op and options the same on every rank; n may be 0.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused; may wait for the ranks behind this one, too.
/// Result   the values are combined in the order of the ranks, from the lowest on; how they are bracketed is the
///          algorithm's. `average` divides by the number of ranks that were combined.
/// Throws   Error{invalid_argument} where in.size() != out.size(), the buffers overlap or op does not suit the type,
///          before anything is sent; Error{not_supported} where the named algorithm does not apply; Error{mismatch}
///          where ranks disagree on the call (on each in the first call in which it waits for one that differs);
///          Error{timeout}, Error{peer_lost}, or Error{function_threw} of a function: `out` is then unspecified and
///          `comm` broken.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
void scan(const Communicator& comm, const In& in, Out&& out, const Op& op, const CollectiveOptions& options = {}) {
  detail::scan(comm, detail::buffers(in, out), detail::operation<ElementOf<In>>(op), options);
}

/// The same in place: `inout` [n] holds this rank's contribution, then the result.
template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
void scan(const Communicator& comm, InOut&& inout, const Op& op, const CollectiveOptions& options = {}) {
  detail::scan(comm, detail::buffers(inout), detail::operation<ElementOf<InOut>>(op), options);
}

/// The same for one value: returns the reduction of `value` over the ranks up to and including this one.
template <Element T, class Op>
requires Reduces<Op, T> &&(!std::ranges::range<T>) [[nodiscard]] T
    scan(const Communicator& comm, T value, const Op& op, const CollectiveOptions& options = {}) {
  scan(comm, std::span<T>(&value, 1), op, options);
  return value;
}

/// Starts it and returns; the buffers belong to the request until it is complete. A function is copied.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] Request iscan(const Communicator& comm, const In& in, Out&& out, const Op& op,
                            const CollectiveOptions& options = {}) {
  return detail::iscan(comm, detail::buffers(in, out), detail::lasting_operation<ElementOf<In>>(op), options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] Request iscan(const Communicator& comm, InOut&& inout, const Op& op,
                            const CollectiveOptions& options = {}) {
  return detail::iscan(comm, detail::buffers(inout), detail::lasting_operation<ElementOf<InOut>>(op), options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] PersistentRequest scan_init(const Communicator& comm, const In& in, Out&& out, const Op& op,
                                          const CollectiveOptions& options = {}) {
  return detail::scan_init(comm, detail::buffers(in, out), detail::lasting_operation<ElementOf<In>>(op), options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] PersistentRequest scan_init(const Communicator& comm, InOut&& inout, const Op& op,
                                          const CollectiveOptions& options = {}) {
  return detail::scan_init(comm, detail::buffers(inout), detail::lasting_operation<ElementOf<InOut>>(op), options);
}

}  // namespace chorus
