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

#include <cstddef>
#include <span>

namespace chorus {

namespace detail {
CHORUS_API void reduce_scatter(const Communicator&, const Buffers&, std::span<const std::size_t> counts,
                               const Operation&, const CollectiveOptions&);
CHORUS_API Request ireduce_scatter(const Communicator&, const Buffers&, std::span<const std::size_t> counts,
                                   const Operation&, const CollectiveOptions&);
CHORUS_API PersistentRequest reduce_scatter_init(const Communicator&, const Buffers&,
                                                 std::span<const std::size_t> counts, const Operation&,
                                                 const CollectiveOptions&);
}  // namespace detail

/// Gives rank r block r of the reduction over all ranks of their `in`; blocks may differ in length.
///
/// Shapes   in [sum of counts], out [counts[rank]]; counts [size], the blocks lie one after another. Counts, element
///          type, op and options the same on every rank.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused.
/// Result   the order of the additions is the algorithm's.
/// Throws   Error{invalid_argument} where a layout has not one count for each rank, a block leaves its buffer, the
///          lengths are others, the buffers overlap or op does not suit the type, before anything is sent;
///          Error{not_supported} where the named algorithm does not apply; Error{mismatch} where ranks disagree on the
///          call; Error{timeout}, Error{peer_lost}, or Error{function_threw} of a function: `out` is then unspecified
///          and `comm` broken.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
void reduce_scatter(const Communicator& comm, const In& in, Out&& out, std::span<const std::size_t> counts,
                    const Op& op, const CollectiveOptions& options = {}) {
  detail::reduce_scatter(comm, detail::buffers(in, out), counts, detail::operation<ElementOf<In>>(op), options);
}

/// The same in place: `inout` [sum of counts] holds this rank's contribution; its first counts[rank] elements then hold
/// the result, the others are unspecified.
template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
void reduce_scatter(const Communicator& comm, InOut&& inout, std::span<const std::size_t> counts, const Op& op,
                    const CollectiveOptions& options = {}) {
  detail::reduce_scatter(comm, detail::buffers(inout), counts, detail::operation<ElementOf<InOut>>(op), options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out, class Op>
requires DeviceSpans<In, Out> && DeviceReduces<Op, Out>
void reduce_scatter(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out,
                    std::span<const std::size_t> counts, const Op& op, Stream stream,
                    const CollectiveOptions& options = {}) {
  detail::reduce_scatter(comm, detail::buffers(in, out, stream), counts, detail::operation<Out>(op), options);
}

/// The same in place.
template <class T, class Op>
requires DeviceReduces<Op, T>
void reduce_scatter(const Communicator& comm, DeviceSpan<T> inout, std::span<const std::size_t> counts, const Op& op,
                    Stream stream, const CollectiveOptions& options = {}) {
  reduce_scatter(comm, inout, inout, counts, op, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete. A function is copied.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] Request ireduce_scatter(const Communicator& comm, const In& in, Out&& out,
                                      std::span<const std::size_t> counts, const Op& op,
                                      const CollectiveOptions& options = {}) {
  return detail::ireduce_scatter(comm, detail::buffers(in, out), counts, detail::lasting_operation<ElementOf<In>>(op),
                                 options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] Request ireduce_scatter(const Communicator& comm, InOut&& inout, std::span<const std::size_t> counts,
                                      const Op& op, const CollectiveOptions& options = {}) {
  return detail::ireduce_scatter(comm, detail::buffers(inout), counts, detail::lasting_operation<ElementOf<InOut>>(op),
                                 options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out, class Op>
requires ElementRanges<In, Out> && Reduces<Op, ElementOf<In>>
[[nodiscard]] PersistentRequest reduce_scatter_init(const Communicator& comm, const In& in, Out&& out,
                                                    std::span<const std::size_t> counts, const Op& op,
                                                    const CollectiveOptions& options = {}) {
  return detail::reduce_scatter_init(comm, detail::buffers(in, out), counts,
                                     detail::lasting_operation<ElementOf<In>>(op), options);
}

template <WritableElementRange InOut, class Op>
requires Reduces<Op, ElementOf<InOut>>
[[nodiscard]] PersistentRequest reduce_scatter_init(const Communicator& comm, InOut&& inout,
                                                    std::span<const std::size_t> counts, const Op& op,
                                                    const CollectiveOptions& options = {}) {
  return detail::reduce_scatter_init(comm, detail::buffers(inout), counts,
                                     detail::lasting_operation<ElementOf<InOut>>(op), options);
}

}  // namespace chorus
