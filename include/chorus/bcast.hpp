// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/device_span.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

#include <ranges>
#include <span>

namespace chorus {

namespace detail {
CHORUS_API void bcast(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
CHORUS_API Request ibcast(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
CHORUS_API PersistentRequest bcast_init(const Communicator&, const Buffers&, int root, const CollectiveOptions&);
}  // namespace detail

/// Gives every rank the `data` of rank `root`.
///
/// Shapes   data [n]; n, element type, root and options the same on every rank; n may be 0.
/// Memory   host, any alignment; read on the root, written on all others.
/// Order    blocks until `data` may be read (elsewhere) or reused (root); the root may return before the others.
/// Throws   Error{invalid_argument} where root is no rank of `comm`, before anything is sent;
///          Error{not_supported} where the named algorithm does not apply; Error{mismatch} where ranks disagree on
///          the call (on each in the first call in which it waits for one that differs); Error{timeout} or
///          Error{peer_lost}: `data` is then unspecified and `comm` broken.
template <WritableElementRange Data>
void bcast(const Communicator& comm, Data&& data, int root, const CollectiveOptions& options = {}) {
  detail::bcast(comm, detail::buffers(data), root, options);
}

/// The same for one value.
template <Element T>
requires(!std::ranges::range<T>) void bcast(const Communicator& comm, T& value, int root,
                                            const CollectiveOptions& options = {}) {
  bcast(comm, std::span<T>(&value, 1), root, options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class T>
void bcast(const Communicator& comm, DeviceSpan<T> data, int root, Stream stream,
           const CollectiveOptions& options = {}) {
  detail::bcast(comm, detail::buffers(data, data, stream), root, options);
}

/// Starts it and returns; `data` belongs to the request until it is complete.
template <WritableElementRange Data>
[[nodiscard]] Request ibcast(const Communicator& comm, Data&& data, int root, const CollectiveOptions& options = {}) {
  return detail::ibcast(comm, detail::buffers(data), root, options);
}

/// Prepares it, to be started again and again; `data` must live as long as the request.
template <WritableElementRange Data>
[[nodiscard]] PersistentRequest bcast_init(const Communicator& comm, Data&& data, int root,
                                           const CollectiveOptions& options = {}) {
  return detail::bcast_init(comm, detail::buffers(data), root, options);
}

}  // namespace chorus
