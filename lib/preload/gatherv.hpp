// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/gatherv.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"

namespace chorus::preload {

struct Gatherv {
  // What is sent only the sender and the root know; what is received only the root says.
  template <class Count, class Displacement>
  static Offer offer(Attachment& attachment, const void* in, MPI_Count in_count, MPI_Datatype in_type, const void* out,
                     const Count* out_counts, const Displacement* out_displacements, MPI_Datatype out_type, int root,
                     MPI_Comm /*comm*/) {
    const bool is_root = attachment.rank() == root;
    const bool in_place = is_root && in == MPI_IN_PLACE;
    const bool sends = in_place || (extent(in_count, in_type).valid && !is_missing(in, in_count, in_type));
    const bool receives =
        !is_root || attachment.out_blocks.take(out, out_counts, out_displacements, out_type, attachment.size()).valid;
    return offer_exchange(Collective::gatherv, root, attachment.has(root) && sends && receives);
  }

  template <class Count, class Displacement>
  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, MPI_Count in_count,
                  MPI_Datatype in_type, void* out, const Count* /*out_counts*/,
                  const Displacement* /*out_displacements*/, MPI_Datatype /*out_type*/, int root, MPI_Comm comm) {
    const Communicator& communicator = attachment.communicator();
    if (attachment.rank() != root) {
      const Block block = block_of(in, in_count, in_type);
      const Outgoing own(block, comm);
      return detail::gatherv(communicator, bytes(own.data(), block.bytes(), nullptr, 0), BlockLayout(), root, {});
    }
    const RankBlocks result(attachment.out_blocks, out, comm);
    if (in == MPI_IN_PLACE) {
      result.take_in(root);
    } else {
      result.put(root, block_of(in, in_count, in_type));
    }
    detail::gatherv(communicator, result.buffers(), result.layout(), root, {});
    result.deliver();
  }
};

}  // namespace chorus::preload
