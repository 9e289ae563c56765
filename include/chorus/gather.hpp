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
CHORUS_API void gather(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
CHORUS_API Request igather(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
CHORUS_API PersistentRequest gather_init(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
}  // namespace detail

/// Gives rank `root` the blocks of all ranks, in rank order.
///
/// Shapes   in [n], on the root out [size * n], whose block r is rank r's `in`; elsewhere `out` is ignored and may be
///          empty. n, element type, root and options the same on every rank; n may be 0.
/// Memory   host, any alignment; on the root `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `in` may be reused and, on the root, `out` may be read.
/// Throws   Error{invalid_argument} where out.size() != size * in.size() on the root, the buffers overlap or root is no
///          rank, before anything is sent; Error{not_supported} where the named algorithm does not apply;
///          Error{mismatch} where ranks disagree on the call (on each in the first call in which it waits for one that
///          differs); Error{timeout} or Error{peer_lost}: `out` is then unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void gather(const Communicator& comm, const In& in, Out&& out, int root, const CollectiveOptions& options = {}) {
  detail::gather(comm, detail::buffers(in, out), root, options);
}

/// The same in place: on the root `inout` [size * n], where its own block stands at rank * n; elsewhere `inout` [n] is
/// this rank's block and stays unchanged.
template <WritableElementRange InOut>
void gather(const Communicator& comm, InOut&& inout, int root, const CollectiveOptions& options = {}) {
  detail::gather(comm, detail::buffers(inout), root, options);
}

/// The same for one value of each rank: on the root out [size].
template <Element T, WritableElementRange Out>
requires(!std::ranges::range<T> && std::same_as<T, ElementOf<Out>>) void gather(const Communicator& comm,
                                                                                const T& value, Out&& out, int root,
                                                                                const CollectiveOptions& options = {}) {
  gather(comm, std::span<const T>(&value, 1), out, root, options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out>
requires DeviceSpans<In, Out>
void gather(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out, int root, Stream stream,
            const CollectiveOptions& options = {}) {
  detail::gather(comm, detail::buffers(in, out, stream), root, options);
}

/// The same in place.
template <class T>
void gather(const Communicator& comm, DeviceSpan<T> inout, int root, Stream stream,
            const CollectiveOptions& options = {}) {
  gather(comm, inout, inout, root, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request igather(const Communicator& comm, const In& in, Out&& out, int root,
                              const CollectiveOptions& options = {}) {
  return detail::igather(comm, detail::buffers(in, out), root, options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request igather(const Communicator& comm, InOut&& inout, int root,
                              const CollectiveOptions& options = {}) {
  return detail::igather(comm, detail::buffers(inout), root, options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] PersistentRequest gather_init(const Communicator& comm, const In& in, Out&& out, int root,
                                            const CollectiveOptions& options = {}) {
  return detail::gather_init(comm, detail::buffers(in, out), root, options);
}

template <WritableElementRange InOut>
[[nodiscard]] PersistentRequest gather_init(const Communicator& comm, InOut&& inout, int root,
                                            const CollectiveOptions& options = {}) {
  return detail::gather_init(comm, detail::buffers(inout), root, options);
}

}  // namespace chorus
