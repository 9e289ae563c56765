// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/allgatherv.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"

namespace chorus::preload {

struct Allgatherv {
  template <class Count, class Displacement>
  static Offer offer(Attachment& attachment, const void* in, MPI_Count in_count, MPI_Datatype in_type, const void* out,
                     const Count* out_counts, const Displacement* out_displacements, MPI_Datatype out_type,
                     MPI_Comm /*comm*/) {
    const Extent all = attachment.out_blocks.take(out, out_counts, out_displacements, out_type, attachment.size());
    Offer offer = offer_move(Collective::allgatherv, 0, all);
    if (in == MPI_IN_PLACE) return offer;
    if (!extent(in_count, in_type).valid || is_missing(in, in_count, in_type)) offer.path = Path::arguments;
    return offer;
  }

  template <class Count, class Displacement>
  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, MPI_Count in_count,
                  MPI_Datatype in_type, void* out, const Count* /*out_counts*/,
                  const Displacement* /*out_displacements*/, MPI_Datatype /*out_type*/, MPI_Comm comm) {
    const RankBlocks result(attachment.out_blocks, out, comm);
    if (in == MPI_IN_PLACE) {
      result.take_in(attachment.rank());
    } else {
      result.put(attachment.rank(), block_of(in, in_count, in_type));
    }
    detail::allgatherv(attachment.communicator(), result.buffers(), result.layout(), {});
    result.deliver();
  }
};

}  // namespace chorus::preload
