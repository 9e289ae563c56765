// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/bcast.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/staging.hpp"

namespace chorus::preload {

struct Bcast {
  static Offer offer(const Attachment& attachment, const void* buffer, MPI_Count count, MPI_Datatype type, int root,
                     MPI_Comm /*comm*/) {
    Offer offer = offer_move(Collective::bcast, root, extent(count, type));
    if (!attachment.has(root) || is_missing(buffer, count, type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, void* buffer, MPI_Count count, MPI_Datatype type,
                  int root, MPI_Comm comm) {
    Incoming data(block_of(buffer, count, type), 1, comm);
    if (attachment.rank() == root) data.take_in(0);
    detail::bcast(attachment.communicator(), bytes(data.data(), call.count, data.data(), call.count), root, {});
    if (attachment.rank() != root) data.deliver();
  }
};

}  // namespace chorus::preload
