// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/alltoall.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/staging.hpp"

namespace chorus::preload {

struct Alltoall {
  static Offer offer(const Attachment& /*attachment*/, const void* in, MPI_Count in_count, MPI_Datatype in_type,
                     const void* out, MPI_Count out_count, MPI_Datatype out_type, MPI_Comm /*comm*/) {
    const Extent block = extent(out_count, out_type);
    Offer offer = offer_move(Collective::alltoall, 0, block);
    if (is_missing(out, out_count, out_type)) offer.path = Path::arguments;
    if (in == MPI_IN_PLACE) return offer;
    const Extent own = extent(in_count, in_type);
    offer.lasting = offer.lasting && own.lasting;
    if (!own.valid || own.bytes != block.bytes || is_missing(in, in_count, in_type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, MPI_Count in_count,
                  MPI_Datatype in_type, void* out, MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    const int ranks = attachment.size();
    const std::size_t total = static_cast<std::size_t>(ranks) * call.count;
    Incoming result(block_of(out, out_count, out_type), ranks, comm);
    if (in == MPI_IN_PLACE) {
      for (int rank = 0; rank < ranks; ++rank) result.take_in(rank);
      detail::alltoall(attachment.communicator(), bytes(result.data(), total, result.data(), total), {});
    } else {
      const Block first = block_of(in, in_count, in_type);
      const bool apart = first.type.plain && overlap(in, total, result.data(), total);
      Incoming own(first, ranks, comm, apart);
      for (int rank = 0; rank < ranks; ++rank) own.take_in(rank);
      detail::alltoall(attachment.communicator(), bytes(own.data(), total, result.data(), total), {});
    }
    result.deliver();
  }
};

}  // namespace chorus::preload
