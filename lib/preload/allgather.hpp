// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/allgather.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/staging.hpp"

namespace chorus::preload {

struct Allgather {
  static Offer offer(const Attachment& /*attachment*/, const void* in, MPI_Count in_count, MPI_Datatype in_type,
                     const void* out, MPI_Count out_count, MPI_Datatype out_type, MPI_Comm /*comm*/) {
    const Extent block = extent(out_count, out_type);
    Offer offer = offer_move(Collective::allgather, 0, block);
    if (is_missing(out, out_count, out_type)) offer.path = Path::arguments;
    if (in == MPI_IN_PLACE) return offer;
    const Extent own = extent(in_count, in_type);
    offer.lasting = offer.lasting && own.lasting;
    if (!own.valid || own.bytes != block.bytes || is_missing(in, in_count, in_type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, MPI_Count in_count,
                  MPI_Datatype in_type, void* out, MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    const auto ranks = static_cast<std::size_t>(attachment.size());
    const std::size_t total = ranks * call.count;
    Incoming result(block_of(out, out_count, out_type), attachment.size(), comm);
    if (in == MPI_IN_PLACE) {
      result.take_in(attachment.rank());
    } else {
      const Outgoing own(block_of(in, in_count, in_type), comm);
      if (!overlap(own.data(), call.count, result.data(), total)) {
        detail::allgather(attachment.communicator(), bytes(own.data(), call.count, result.data(), total), {});
        return result.deliver();
      }
      result.put(attachment.rank(), block_of(own.data(), static_cast<MPI_Count>(call.count), MPI_BYTE));
    }
    detail::allgather(attachment.communicator(), bytes(result.data(), total, result.data(), total), {});
    result.deliver();
  }
};

}  // namespace chorus::preload
