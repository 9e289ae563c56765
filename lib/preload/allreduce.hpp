// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/allreduce.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/reductions.hpp"

namespace chorus::preload {

struct Allreduce {
  static Offer offer(const Attachment& /*attachment*/, const void* in, const void* out, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::allreduce, 0, count, type, op);
    if (!has_input(in, count, type) || is_missing(out, count, type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, MPI_Count /*count*/,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const OfferedReduction reduction(call, operands(call, in == MPI_IN_PLACE ? out : in, call.count, out, call.count),
                                     type, op, comm);
    detail::allreduce(attachment.communicator(), reduction.buffers(), reduction.operation(), {});
    reduction.deliver();
  }
};

}  // namespace chorus::preload
