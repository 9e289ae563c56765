// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/device_span.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

#include <concepts>
#include <ranges>
#include <span>

namespace chorus {

namespace detail {
CHORUS_API void allgather(const Communicator&, const Buffers&, const CollectiveOptions&);
CHORUS_API Request iallgather(const Communicator&, const Buffers&, const CollectiveOptions&);
CHORUS_API PersistentRequest allgather_init(const Communicator&, const Buffers&, const CollectiveOptions&);
}  // namespace detail

/// Gives every rank the blocks of all ranks, in rank order.
///
/// Shapes   in [n], out [size * n]; block r of `out` is rank r's `in`. n, element type and options the same on every
///          rank; n may be 0.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused.
/// Throws   Error{invalid_argument} where out.size() != size * in.size() or the buffers overlap, before anything is
///          sent; Error{not_supported} where the named algorithm does not apply; Error{mismatch} where ranks disagree
///          on the call; Error{timeout} or Error{peer_lost}: `out` is then unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void allgather(const Communicator& comm, const In& in, Out&& out, const CollectiveOptions& options = {}) {
  detail::allgather(comm, detail::buffers(in, out), options);
}

/// The same in place: this rank's block stands in `inout` [size * n] where it belongs, at rank * n.
template <WritableElementRange InOut>
void allgather(const Communicator& comm, InOut&& inout, const CollectiveOptions& options = {}) {
  detail::allgather(comm, detail::buffers(inout), options);
}

/// The same for one value of each rank: out [size].
template <Element T, WritableElementRange Out>
requires(!std::ranges::range<T> &&
         std::same_as<T, ElementOf<Out>>) void allgather(const Communicator& comm, const T& value, Out&& out,
                                                         const CollectiveOptions& options = {}) {
  allgather(comm, std::span<const T>(&value, 1), out, options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out>
requires DeviceSpans<In, Out>
void allgather(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out, Stream stream,
               const CollectiveOptions& options = {}) {
  detail::allgather(comm, detail::buffers(in, out, stream), options);
}

/// The same in place.
template <class T>
void allgather(const Communicator& comm, DeviceSpan<T> inout, Stream stream, const CollectiveOptions& options = {}) {
  allgather(comm, inout, inout, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request iallgather(const Communicator& comm, const In& in, Out&& out,
                                 const CollectiveOptions& options = {}) {
  return detail::iallgather(comm, detail::buffers(in, out), options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request iallgather(const Communicator& comm, InOut&& inout, const CollectiveOptions& options = {}) {
  return detail::iallgather(comm, detail::buffers(inout), options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] PersistentRequest allgather_init(const Communicator& comm, const In& in, Out&& out,
                                               const CollectiveOptions& options = {}) {
  return detail::allgather_init(comm, detail::buffers(in, out), options);
}

template <WritableElementRange InOut>
[[nodiscard]] PersistentRequest allgather_init(const Communicator& comm, InOut&& inout,
                                               const CollectiveOptions& options = {}) {
  return detail::allgather_init(comm, detail::buffers(inout), options);
}

}  // namespace chorus
