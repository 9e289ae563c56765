// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/scatter.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/staging.hpp"

namespace chorus::preload {

struct Scatter {
  // Only the root's arguments say what is sent, and in place nothing is received there.
  static Offer offer(const Attachment& attachment, const void* in, MPI_Count in_count, MPI_Datatype in_type,
                     const void* out, MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm /*comm*/) {
    const bool is_root = attachment.rank() == root;
    const bool in_place = is_root && out == MPI_IN_PLACE;
    const Extent own = in_place ? extent(in_count, in_type) : extent(out_count, out_type);
    Offer offer = offer_move(Collective::scatter, root, own);
    const bool receives = in_place || !is_missing(out, out_count, out_type);
    const Extent block = is_root ? extent(in_count, in_type) : own;
    const bool sends = block.valid && block.bytes == own.bytes && !(is_root && is_missing(in, in_count, in_type));
    offer.lasting = own.lasting && block.lasting;
    if (!attachment.has(root) || !sends || !receives) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, MPI_Count in_count,
                  MPI_Datatype in_type, void* out, MPI_Count out_count, MPI_Datatype out_type, int root,
                  MPI_Comm comm) {
    const Communicator& communicator = attachment.communicator();
    if (attachment.rank() != root) {
      const Incoming own(block_of(out, out_count, out_type), 1, comm);
      detail::scatter(communicator, bytes(nullptr, 0, own.data(), call.count), root, {});
      return own.deliver();
    }
    const std::size_t total = static_cast<std::size_t>(attachment.size()) * call.count;
    Incoming all(block_of(in, in_count, in_type), attachment.size(), comm);
    for (int rank = 0; rank < attachment.size(); ++rank) all.take_in(rank);
    if (out != MPI_IN_PLACE) {
      const Incoming own(block_of(out, out_count, out_type), 1, comm);
      if (!overlap(own.data(), call.count, all.data(), total)) {
        detail::scatter(communicator, bytes(all.data(), total, own.data(), call.count), root, {});
        return own.deliver();
      }
    }
    detail::scatter(communicator, bytes(all.data(), total, all.data(), total), root, {});
    if (out != MPI_IN_PLACE) all.get(root, block_of(out, out_count, out_type));
  }
};

}  // namespace chorus::preload
