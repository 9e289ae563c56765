// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/device_span.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

namespace chorus {

namespace detail {
CHORUS_API void allgatherv(const Communicator&, const Buffers&, const BlockLayout& blocks, const CollectiveOptions&);
CHORUS_API Request iallgatherv(const Communicator&, const Buffers&, const BlockLayout& blocks,
                               const CollectiveOptions&);
CHORUS_API PersistentRequest allgatherv_init(const Communicator&, const Buffers&, const BlockLayout& blocks,
                                             const CollectiveOptions&);
}  // namespace detail

/// Gives every rank the blocks of all ranks, which may differ in length.
///
/// Shapes   in [blocks.counts[rank]]; out has the blocks where `blocks` says: block r is rank r's `in`. The counts,
///          element type and options are the same on every rank; the displacements need not be.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused.
/// Throws   Error{invalid_argument} where a layout has not one count for each rank, a block leaves its buffer, blocks
///          overlap, in.size() is not the count of this rank or the buffers overlap, before anything is sent;
///          Error{not_supported} where the named algorithm does not apply; Error{mismatch} where ranks disagree on the
///          call, or a rank gives another count than its peer expects; Error{timeout} or Error{peer_lost}: `out` is
///          then unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void allgatherv(const Communicator& comm, const In& in, Out&& out, const BlockLayout& blocks,
                const CollectiveOptions& options = {}) {
  detail::allgatherv(comm, detail::buffers(in, out), blocks, options);
}

/// The same in place: this rank's block stands in `inout` where it belongs.
template <WritableElementRange InOut>
void allgatherv(const Communicator& comm, InOut&& inout, const BlockLayout& blocks,
                const CollectiveOptions& options = {}) {
  detail::allgatherv(comm, detail::buffers(inout), blocks, options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out>
requires DeviceSpans<In, Out>
void allgatherv(const Communicator& comm, DeviceSpan<In> in, DeviceSpan<Out> out, const BlockLayout& blocks,
                Stream stream, const CollectiveOptions& options = {}) {
  detail::allgatherv(comm, detail::buffers(in, out, stream), blocks, options);
}

/// The same in place.
template <class T>
void allgatherv(const Communicator& comm, DeviceSpan<T> inout, const BlockLayout& blocks, Stream stream,
                const CollectiveOptions& options = {}) {
  allgatherv(comm, inout, inout, blocks, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request iallgatherv(const Communicator& comm, const In& in, Out&& out, const BlockLayout& blocks,
                                  const CollectiveOptions& options = {}) {
  return detail::iallgatherv(comm, detail::buffers(in, out), blocks, options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request iallgatherv(const Communicator& comm, InOut&& inout, const BlockLayout& blocks,
                                  const CollectiveOptions& options = {}) {
  return detail::iallgatherv(comm, detail::buffers(inout), blocks, options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] PersistentRequest allgatherv_init(const Communicator& comm, const In& in, Out&& out,
                                                const BlockLayout& blocks, const CollectiveOptions& options = {}) {
  return detail::allgatherv_init(comm, detail::buffers(in, out), blocks, options);
}

template <WritableElementRange InOut>
[[nodiscard]] PersistentRequest allgatherv_init(const Communicator& comm, InOut&& inout, const BlockLayout& blocks,
                                                const CollectiveOptions& options = {}) {
  return detail::allgatherv_init(comm, detail::buffers(inout), blocks, options);
}

}  // namespace chorus
