// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/reduce_scatter_block.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/reductions.hpp"

namespace chorus::preload {

struct ReduceScatterBlock {
  static Offer offer(const Attachment& /*attachment*/, const void* in, const void* out, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::reduce_scatter_block, 0, count, type, op);
    if (!has_input(in, count, type) || is_missing(out, count, type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, MPI_Count /*count*/,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const std::size_t total = static_cast<std::size_t>(attachment.size()) * call.count;
    const bool in_place = in == MPI_IN_PLACE || in == out;
    const OfferedReduction reduction(
        call, operands(call, in_place ? out : in, total, out, in_place ? total : call.count), type, op, comm);
    detail::reduce_scatter_block(attachment.communicator(), reduction.buffers(), reduction.operation(), {});
    reduction.deliver();
  }
};

}  // namespace chorus::preload
