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
CHORUS_API void alltoallv(const Communicator&, const Buffers&, const BlockLayout& in_blocks,
                          const BlockLayout& out_blocks, const CollectiveOptions&);
CHORUS_API Request ialltoallv(const Communicator&, const Buffers&, const BlockLayout& in_blocks,
                              const BlockLayout& out_blocks, const CollectiveOptions&);
CHORUS_API PersistentRequest alltoallv_init(const Communicator&, const Buffers&, const BlockLayout& in_blocks,
                                            const BlockLayout& out_blocks, const CollectiveOptions&);
}  // namespace detail

/// Gives every rank a block from every rank; blocks may differ in length.
///
/// Shapes   in has a block for each rank where `in_blocks` says, out one from each where `out_blocks` says: block r of
///          `out` is block `rank` of rank r's `in`, so that the counts of the two agree. Element type and options the
///          same on every rank.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused.
/// Throws   Error{invalid_argument} where a layout has not one count for each rank, a block leaves its buffer, blocks
///          of `out` overlap or the buffers overlap, before anything is sent; Error{not_supported} where the named
///          algorithm does not apply; Error{mismatch} where ranks disagree on the call, or a rank gives another count
///          than its peer expects; Error{timeout} or Error{peer_lost}: `out` is then unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void alltoallv(const Communicator& comm, const In& in, const BlockLayout& in_blocks, Out&& out,
               const BlockLayout& out_blocks, const CollectiveOptions& options = {}) {
  detail::alltoallv(comm, detail::buffers(in, out), in_blocks, out_blocks, options);
}

/// The same in place: what comes from a rank takes the place of what goes to it.
template <WritableElementRange InOut>
void alltoallv(const Communicator& comm, InOut&& inout, const BlockLayout& blocks,
               const CollectiveOptions& options = {}) {
  detail::alltoallv(comm, detail::buffers(inout), blocks, blocks, options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out>
requires DeviceSpans<In, Out>
void alltoallv(const Communicator& comm, DeviceSpan<In> in, const BlockLayout& in_blocks, DeviceSpan<Out> out,
               const BlockLayout& out_blocks, Stream stream, const CollectiveOptions& options = {}) {
  detail::alltoallv(comm, detail::buffers(in, out, stream), in_blocks, out_blocks, options);
}

/// The same in place.
template <class T>
void alltoallv(const Communicator& comm, DeviceSpan<T> inout, const BlockLayout& blocks, Stream stream,
               const CollectiveOptions& options = {}) {
  alltoallv(comm, inout, blocks, inout, blocks, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request ialltoallv(const Communicator& comm, const In& in, const BlockLayout& in_blocks, Out&& out,
                                 const BlockLayout& out_blocks, const CollectiveOptions& options = {}) {
  return detail::ialltoallv(comm, detail::buffers(in, out), in_blocks, out_blocks, options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request ialltoallv(const Communicator& comm, InOut&& inout, const BlockLayout& blocks,
                                 const CollectiveOptions& options = {}) {
  return detail::ialltoallv(comm, detail::buffers(inout), blocks, blocks, options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] PersistentRequest alltoallv_init(const Communicator& comm, const In& in, const BlockLayout& in_blocks,
                                               Out&& out, const BlockLayout& out_blocks,
                                               const CollectiveOptions& options = {}) {
  return detail::alltoallv_init(comm, detail::buffers(in, out), in_blocks, out_blocks, options);
}

template <WritableElementRange InOut>
[[nodiscard]] PersistentRequest alltoallv_init(const Communicator& comm, InOut&& inout, const BlockLayout& blocks,
                                               const CollectiveOptions& options = {}) {
  return detail::alltoallv_init(comm, detail::buffers(inout), blocks, blocks, options);
}

}  // namespace chorus
