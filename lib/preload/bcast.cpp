// SPDX-License-Identifier: Apache-2.0
#include <chorus/bcast.hpp>

#include "preload/handles.hpp"
#include "preload/staging.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Bcast {
  static constexpr const char* name = "PMPI_Bcast";

  static Offer offer(const Attachment& attachment, const void* buffer, int count, MPI_Datatype type, int root,
                     MPI_Comm /*comm*/) {
    Offer offer = offer_move(Collective::bcast, root, extent(count, type));
    if (!attachment.has(root) || is_missing(buffer, count, type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, void* buffer, int count, MPI_Datatype type, int root,
                  MPI_Comm comm) {
    Incoming data({buffer, count, type, call.count}, comm);
    if (attachment.rank() == root) data.take_in(0);
    detail::bcast(attachment.communicator(), bytes(data.data(), call.count, data.data(), call.count), root, {});
    if (attachment.rank() != root) data.deliver();
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Bcast;

int PMPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return chorus::preload::take_over<Bcast>(buffer, count, type, root, comm);
}
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return chorus::preload::pass_tools<Bcast>(buffer, count, type, root, comm);
}
