// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"

namespace chorus::preload {

struct Alltoallv {
  template <class Count, class Displacement>
  static Offer offer(const Attachment& attachment, const void* in, const Count* in_counts,
                     const Displacement* in_displacements, MPI_Datatype in_type, const void* out,
                     const Count* out_counts, const Displacement* out_displacements, MPI_Datatype out_type,
                     MPI_Comm /*comm*/) {
    const bool sends = in == MPI_IN_PLACE || extent(in, in_counts, in_displacements, in_type, attachment.size()).valid;
    const bool receives = extent(out, out_counts, out_displacements, out_type, attachment.size()).valid;
    return offer_exchange(Collective::alltoallv, 0, sends && receives);
  }

  template <class Count, class Displacement>
  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, const Count* in_counts,
                  const Displacement* in_displacements, MPI_Datatype in_type, void* out, const Count* out_counts,
                  const Displacement* out_displacements, MPI_Datatype out_type, MPI_Comm comm) {
    const int ranks = attachment.size();
    const RankBlocks result(ranks, blocks_of(out, out_counts, out_displacements, out_type), comm);
    if (in == MPI_IN_PLACE) return exchange_in_buffers(attachment.communicator(), result, result);
    const RankBlocks own(ranks, blocks_of(in, in_counts, in_displacements, in_type), comm, &result);
    exchange_in_buffers(attachment.communicator(), own, result);
  }
};

}  // namespace chorus::preload
