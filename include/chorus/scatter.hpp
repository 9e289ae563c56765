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
CHORUS_API void scatter(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
CHORUS_API Request iscatter(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
CHORUS_API PersistentRequest scatter_init(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
}  // namespace detail

/// Gives each rank its block of what rank `root` has, in rank order.
///
/// Shapes   on the root in [size * n], whose block r is for rank r; elsewhere `in` is ignored and may be empty.
///          out [n]. n, element type, root and options the same on every rank; n may be 0.
/// Memory   host, any alignment; on the root `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and, on the root, `in` reused.
/// Throws   Error{invalid_argument} where in.size() != size * out.size() on the root, the buffers overlap or root is no
///          rank, before anything is sent; Error{not_supported} where the named algorithm does not apply;
///          Error{mismatch} where ranks disagree on the call (on each in the first call in which it waits for one that
///          differs); Error{timeout} or Error{peer_lost}: `out` is then unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void scatter(const Communicator& comm, const In& in, Out&& out, int root, const CollectiveOptions& options = {}) {
  detail::scatter(comm, detail::buffers(in, out), root, options);
}

/// The same in place: on the root `inout` [size * n] stays unchanged, and its own block is where it stands, at rank *
/// n; elsewhere `inout` [n] gets this rank's block.
template <WritableElementRange InOut>
void scatter(const Communicator& comm, InOut&& inout, int root, const CollectiveOptions& options = {}) {
  detail::scatter(comm, detail::buffers(inout), root, options);
}

/// The same for one value for each rank: on the root in [size].
template <ElementRange In, Element T>
requires(!std::ranges::range<T> && std::same_as<T, ElementOf<In>>) void scatter(const Communicator& comm, const In& in,
                                                                                T& value, int root,
                                                                                const CollectiveOptions& options = {}) {
  scatter(comm, in, std::span<T>(&value, 1), root, options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out>
requires DeviceSpans<In, Out>
void scatter(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out, int root, Stream stream,
             const CollectiveOptions& options = {}) {
  detail::scatter(comm, detail::buffers(in, out, stream), root, options);
}

/// The same in place.
template <class T>
void scatter(const Communicator& comm, DeviceSpan<T> inout, int root, Stream stream,
             const CollectiveOptions& options = {}) {
  scatter(comm, inout, inout, root, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request iscatter(const Communicator& comm, const In& in, Out&& out, int root,
                               const CollectiveOptions& options = {}) {
  return detail::iscatter(comm, detail::buffers(in, out), root, options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request iscatter(const Communicator& comm, InOut&& inout, int root,
                               const CollectiveOptions& options = {}) {
  return detail::iscatter(comm, detail::buffers(inout), root, options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] PersistentRequest scatter_init(const Communicator& comm, const In& in, Out&& out, int root,
                                             const CollectiveOptions& options = {}) {
  return detail::scatter_init(comm, detail::buffers(in, out), root, options);
}

template <WritableElementRange InOut>
[[nodiscard]] PersistentRequest scatter_init(const Communicator& comm, InOut&& inout, int root,
                                             const CollectiveOptions& options = {}) {
  return detail::scatter_init(comm, detail::buffers(inout), root, options);
}

}  // namespace chorus
