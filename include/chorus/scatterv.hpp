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
CHORUS_API void scatterv(const Communicator&, const Buffers&, const BlockLayout& blocks, int root,
                         const CollectiveOptions&);
CHORUS_API Request iscatterv(const Communicator&, const Buffers&, const BlockLayout& blocks, int root,
                             const CollectiveOptions&);
CHORUS_API PersistentRequest scatterv_init(const Communicator&, const Buffers&, const BlockLayout& blocks, int root,
                                           const CollectiveOptions&);
}  // namespace detail

/// Gives every rank its block of the `in` of rank `root`; blocks may differ in length.
///
/// Shapes   out [n], n as `blocks` on the root says for this rank; on the root in has the blocks where `blocks` says.
///          Elsewhere `in` and `blocks` are ignored and may be empty. Element type, root and options the same on every
///          rank.
/// Memory   host, any alignment; on the root `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and, on the root, `in` reused.
/// Throws   Error{invalid_argument} where a layout has not one count for each rank, a block leaves its buffer or root
///          is no rank, before anything is sent; Error{not_supported} where the named algorithm does not apply;
///          Error{mismatch} where ranks disagree on the call, or a rank gives another count than its peer expects;
///          Error{timeout} or Error{peer_lost}: `out` is then unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void scatterv(const Communicator& comm, const In& in, const BlockLayout& blocks, Out&& out, int root,
              const CollectiveOptions& options = {}) {
  detail::scatterv(comm, detail::buffers(in, out), blocks, root, options);
}

/// The same in place: on the root its block stays in `inout` where it is; elsewhere `inout` gets this rank's block.
template <WritableElementRange InOut>
void scatterv(const Communicator& comm, InOut&& inout, const BlockLayout& blocks, int root,
              const CollectiveOptions& options = {}) {
  detail::scatterv(comm, detail::buffers(inout), blocks, root, options);
}

/// The same on memory of a GPU, in the order of `stream` (chorus/device_span.hpp).
template <class In, class Out>
requires DeviceSpans<In, Out>
void scatterv(const Communicator& comm, DeviceSpan<In> in, const BlockLayout& blocks, DeviceSpan<Out> out, int root,
              Stream stream, const CollectiveOptions& options = {}) {
  detail::scatterv(comm, detail::buffers(in, out, stream), blocks, root, options);
}

/// The same in place.
template <class T>
void scatterv(const Communicator& comm, DeviceSpan<T> inout, const BlockLayout& blocks, int root, Stream stream,
              const CollectiveOptions& options = {}) {
  scatterv(comm, inout, blocks, inout, root, stream, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request iscatterv(const Communicator& comm, const In& in, const BlockLayout& blocks, Out&& out, int root,
                                const CollectiveOptions& options = {}) {
  return detail::iscatterv(comm, detail::buffers(in, out), blocks, root, options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request iscatterv(const Communicator& comm, InOut&& inout, const BlockLayout& blocks, int root,
                                const CollectiveOptions& options = {}) {
  return detail::iscatterv(comm, detail::buffers(inout), blocks, root, options);
}

/// Prepares it, to be started again and again; the buffers must live as long as the request.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] PersistentRequest scatterv_init(const Communicator& comm, const In& in, const BlockLayout& blocks,
                                              Out&& out, int root, const CollectiveOptions& options = {}) {
  return detail::scatterv_init(comm, detail::buffers(in, out), blocks, root, options);
}

template <WritableElementRange InOut>
[[nodiscard]] PersistentRequest scatterv_init(const Communicator& comm, InOut&& inout, const BlockLayout& blocks,
                                              int root, const CollectiveOptions& options = {}) {
  return detail::scatterv_init(comm, detail::buffers(inout), blocks, root, options);
}

}  // namespace chorus
