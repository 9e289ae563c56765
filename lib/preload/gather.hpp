// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/gather.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/staging.hpp"

namespace chorus::preload {

struct Gather {
  // Only the root's arguments say what is received, and in place nothing is sent there.
  static Offer offer(const Attachment& attachment, const void* in, MPI_Count in_count, MPI_Datatype in_type,
                     const void* out, MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm /*comm*/) {
    const bool is_root = attachment.rank() == root;
    const bool in_place = is_root && in == MPI_IN_PLACE;
    const Extent own = in_place ? extent(out_count, out_type) : extent(in_count, in_type);
    Offer offer = offer_move(Collective::gather, root, own);
    const bool sends = in_place || !is_missing(in, in_count, in_type);
    const Extent block = is_root ? extent(out_count, out_type) : own;
    const bool receives = block.valid && block.bytes == own.bytes && !(is_root && is_missing(out, out_count, out_type));
    offer.lasting = own.lasting && block.lasting;
    if (!attachment.has(root) || !sends || !receives) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, MPI_Count in_count,
                  MPI_Datatype in_type, void* out, MPI_Count out_count, MPI_Datatype out_type, int root,
                  MPI_Comm comm) {
    const Communicator& communicator = attachment.communicator();
    if (attachment.rank() != root) {
      const Outgoing own(block_of(in, in_count, in_type), comm);
      return detail::gather(communicator, bytes(own.data(), call.count, nullptr, 0), root, {});
    }
    const std::size_t total = static_cast<std::size_t>(attachment.size()) * call.count;
    Incoming result(block_of(out, out_count, out_type), attachment.size(), comm);
    if (in == MPI_IN_PLACE) {
      result.take_in(root);
    } else {
      const Outgoing own(block_of(in, in_count, in_type), comm);
      if (!overlap(own.data(), call.count, result.data(), total)) {
        detail::gather(communicator, bytes(own.data(), call.count, result.data(), total), root, {});
        return result.deliver();
      }
      result.put(root, block_of(own.data(), static_cast<MPI_Count>(call.count), MPI_BYTE));
    }
    detail::gather(communicator, bytes(result.data(), total, result.data(), total), root, {});
    result.deliver();
  }
};

}  // namespace chorus::preload
