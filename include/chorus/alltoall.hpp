// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/device_span.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

namespace chorus {

namespace detail {
CHORUS_API void alltoall(const Communicator&, const Buffers&, const CollectiveOptions&);
CHORUS_API Request ialltoall(const Communicator&, const Buffers&, const CollectiveOptions&);
CHORUS_API PersistentRequest alltoall_init(const Communicator&, const Buffers&, const CollectiveOptions&);
}  // namespace detail

/// Gives every rank its block of every rank's `in`: block s of rank r's `out` is block r of rank s's `in`.
///
/// Shapes   in [size * n], out [size * n]; n, element type and options the same on every rank; n may be 0.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused.
/// Throws   Error{invalid_argument} where in.size() != out.size(), they are no multiple of size or the buffers overlap,
///          before anything is sent; Error{not_supported} where the named algorithm does not apply; Error{mismatch}
///          where ranks disagree on the call; Error{timeout} or Error{peer_lost}: `out` is then unspecified and `comm`
///          broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void alltoall(const Communicator& comm, const In& in, Out&& out, const CollectiveOptions& options = {}) {
  detail::alltoall(comm, detail::buffers(in, out), options);
}

/// The same in place: `inout` [size * n] holds what this rank gives, then what it gets.
template <WritableElementRange InOut>
void alltoall(const Communicator& comm, InOut&& inout, const CollectiveOptions& options = {}) {
  detail::alltoall(comm, detail::buffers(inout), options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out>
requires DeviceSpans<In, Out>
void alltoall(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out, Stream stream,
              const CollectiveOptions& options = {}) {
  detail::alltoall(comm, detail::buffers(in, out, stream), options);
}

/// The same in place.
template <class T>
void alltoall(const Communicator& comm, DeviceSpan<T> inout, Stream stream, const CollectiveOptions& options = {}) {
  alltoall(comm, inout, inout, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request ialltoall(const Communicator& comm, const In& in, Out&& out,
                                const CollectiveOptions& options = {}) {
  return detail::ialltoall(comm, detail::buffers(in, out), options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request ialltoall(const Communicator& comm, InOut&& inout, const CollectiveOptions& options = {}) {
  return detail::ialltoall(comm, detail::buffers(inout), options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] PersistentRequest alltoall_init(const Communicator& comm, const In& in, Out&& out,
                                              const CollectiveOptions& options = {}) {
  return detail::alltoall_init(comm, detail::buffers(in, out), options);
}

template <WritableElementRange InOut>
[[nodiscard]] PersistentRequest alltoall_init(const Communicator& comm, InOut&& inout,
                                              const CollectiveOptions& options = {}) {
  return detail::alltoall_init(comm, detail::buffers(inout), options);
}

}  // namespace chorus
