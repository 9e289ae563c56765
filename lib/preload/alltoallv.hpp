// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"

namespace chorus::preload {

struct Alltoallv {
  template <class Count, class Displacement>
  static Offer offer(Attachment& attachment, const void* in, const Count* in_counts,
                     const Displacement* in_displacements, MPI_Datatype in_type, const void* out,
                     const Count* out_counts, const Displacement* out_displacements, MPI_Datatype out_type,
                     MPI_Comm /*comm*/) {
    const int ranks = attachment.size();
    const bool sends =
        in == MPI_IN_PLACE || attachment.in_blocks.take(in, in_counts, in_displacements, in_type, ranks).valid;
    const bool receives = attachment.out_blocks.take(out, out_counts, out_displacements, out_type, ranks).valid;
    return offer_exchange(Collective::alltoallv, 0, sends && receives);
  }

  template <class Count, class Displacement>
  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, const Count* /*in_counts*/,
                  const Displacement* /*in_displacements*/, MPI_Datatype /*in_type*/, void* out,
                  const Count* /*out_counts*/, const Displacement* /*out_displacements*/, MPI_Datatype /*out_type*/,
                  MPI_Comm comm) {
    const RankBlocks result(attachment.out_blocks, out, comm);
    if (in == MPI_IN_PLACE) return exchange_in_buffers(attachment.communicator(), result, result);
    const RankBlocks own(attachment.in_blocks, in, comm, &result);
    exchange_in_buffers(attachment.communicator(), own, result);
  }
};

}  // namespace chorus::preload
