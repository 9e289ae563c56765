// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/reduce.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/reductions.hpp"

namespace chorus::preload {

struct Reduce {
  static Offer offer(const Attachment& attachment, const void* in, const void* out, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, int root, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::reduce, root, count, type, op);
    const bool is_root = attachment.rank() == root;
    const bool reads = is_root ? has_input(in, count, type) : !is_missing(in, count, type);
    const bool writes = !is_root || !is_missing(out, count, type);
    if (!attachment.has(root) || !reads || !writes) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, MPI_Count /*count*/,
                  MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    const OfferedReduction reduction(call, operands(call, in == MPI_IN_PLACE ? out : in, call.count, out, call.count),
                                     type, op, comm);
    detail::reduce(attachment.communicator(), reduction.buffers(), reduction.operation(), root, {});
    if (attachment.rank() == root) reduction.deliver();
  }
};

}  // namespace chorus::preload
