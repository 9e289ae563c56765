// SPDX-License-Identifier: Apache-2.0
#include <chorus/exscan.hpp>

#include "preload/handles.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Exscan {
  static constexpr const char* name = "PMPI_Exscan";

  // On rank 0 the result is not written.
  static Offer offer(const Attachment& attachment, const void* in, const void* out, int count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::exscan, 0, count, type, op);
    if (is_missing(in, count, type) || (attachment.rank() > 0 && is_missing(out, count, type)))
      offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, int /*count*/,
                  MPI_Datatype /*type*/, MPI_Op /*op*/, MPI_Comm /*comm*/) {
    const detail::Buffers buffers = operands(call, in == MPI_IN_PLACE ? out : in, call.count, out, call.count);
    detail::exscan(attachment.communicator(), buffers, {.op = call.op, .owner = nullptr}, {});
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Exscan;

int PMPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return chorus::preload::take_over<Exscan>(in, out, count, type, op, comm);
}
int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return chorus::preload::pass_tools<Exscan>(in, out, count, type, op, comm);
}
