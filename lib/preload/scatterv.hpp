// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/scatterv.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"

namespace chorus::preload {

struct Scatterv {
  // What is received only the receiver and the root know; what is sent only the root says.
  template <class Count, class Displacement>
  static Offer offer(Attachment& attachment, const void* in, const Count* in_counts,
                     const Displacement* in_displacements, MPI_Datatype in_type, const void* out, MPI_Count out_count,
                     MPI_Datatype out_type, int root, MPI_Comm /*comm*/) {
    const bool is_root = attachment.rank() == root;
    const bool sends =
        !is_root || attachment.in_blocks.take(in, in_counts, in_displacements, in_type, attachment.size()).valid;
    const bool in_place = is_root && out == MPI_IN_PLACE;
    const bool receives = in_place || (extent(out_count, out_type).valid && !is_missing(out, out_count, out_type));
    return offer_exchange(Collective::scatterv, root, attachment.has(root) && sends && receives);
  }

  template <class Count, class Displacement>
  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, const Count* /*in_counts*/,
                  const Displacement* /*in_displacements*/, MPI_Datatype /*in_type*/, void* out, MPI_Count out_count,
                  MPI_Datatype out_type, int root, MPI_Comm comm) {
    const Communicator& communicator = attachment.communicator();
    if (attachment.rank() != root) {
      const Block block = block_of(out, out_count, out_type);
      const Incoming own(block, 1, comm);
      detail::scatterv(communicator, bytes(nullptr, 0, own.data(), block.bytes()), BlockLayout(), root, {});
      return own.deliver();
    }
    const RankBlocks all(attachment.in_blocks, in, comm);
    all.take_in();
    detail::scatterv(communicator, all.buffers(), all.layout(), root, {});
    if (out != MPI_IN_PLACE) all.get(root, block_of(out, out_count, out_type));
  }
};

}  // namespace chorus::preload
