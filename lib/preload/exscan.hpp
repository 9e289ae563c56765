// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/exscan.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/reductions.hpp"

namespace chorus::preload {

struct Exscan {
  // On rank 0 MPI writes no result, and no buffer needs to be there for it.
  static Offer offer(const Attachment& attachment, const void* in, const void* out, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::exscan, 0, count, type, op);
    const bool uses_out = attachment.rank() > 0 || in == MPI_IN_PLACE;
    if (!has_input(in, count, type) || (uses_out && is_missing(out, count, type))) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, MPI_Count /*count*/,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const void* const own = in == MPI_IN_PLACE ? out : in;
    void* const result = attachment.rank() > 0 ? out : const_cast<void*>(own);
    const OfferedReduction reduction(call, operands(call, own, call.count, result, call.count), type, op, comm);
    detail::exscan(attachment.communicator(), reduction.buffers(), reduction.operation(), {});
    if (attachment.rank() > 0) reduction.deliver();
  }
};

}  // namespace chorus::preload
