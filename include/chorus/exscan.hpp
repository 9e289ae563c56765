// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/request.hpp>

namespace chorus {

namespace detail {
CHORUS_API void exscan(const Communicator&, const Buffers&, ReduceOp, const CollectiveOptions&);
CHORUS_API Request iexscan(const Communicator&, const Buffers&, ReduceOp, const CollectiveOptions&);
}  // namespace detail

/// Gives each rank the reduction of `in` over the ranks before it; rank 0 gets nothing, its `out` stays unchanged.
///
/// Shapes   in [n], out [n]; n, element type, op and options the same on every rank; n may be 0.
/// Memory   host, any alignment; `in` and `out` do not overlap (for one buffer: the overload below).
/// Order    blocks until `out` may be read and `in` reused; does not wait for the ranks behind this one.
/// Result   the values are combined in the order of the ranks, from the lowest on; how they are bracketed is the
///          algorithm's. `average` divides by the number of ranks that were combined.
/// Throws   Error{invalid_argument} where in.size() != out.size(), the buffers overlap or op does not suit the type,
///          before anything is sent; Error{not_supported} where the named algorithm does not apply; Error{mismatch}
///          where ranks disagree on the call (a rank may learn it at its next call only); Error{timeout} or
///          Error{peer_lost}: `out` is then unspecified and `comm` broken.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
void exscan(const Communicator& comm, const In& in, Out&& out, ReduceOp op, const CollectiveOptions& options = {}) {
  detail::exscan(comm, detail::buffers(in, out), op, options);
}

/// The same in place: `inout` [n] holds this rank's contribution, then the result; on rank 0 it stays unchanged.
template <WritableElementRange InOut>
void exscan(const Communicator& comm, InOut&& inout, ReduceOp op, const CollectiveOptions& options = {}) {
  detail::exscan(comm, detail::buffers(inout), op, options);
}

/// Starts it and returns; the buffers belong to the request until it is complete.
template <ElementRange In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Request iexscan(const Communicator& comm, const In& in, Out&& out, ReduceOp op,
                              const CollectiveOptions& options = {}) {
  return detail::iexscan(comm, detail::buffers(in, out), op, options);
}

template <WritableElementRange InOut>
[[nodiscard]] Request iexscan(const Communicator& comm, InOut&& inout, ReduceOp op,
                              const CollectiveOptions& options = {}) {
  return detail::iexscan(comm, detail::buffers(inout), op, options);
}

}  // namespace chorus
