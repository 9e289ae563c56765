// SPDX-License-Identifier: Apache-2.0
#include <chorus/scan.hpp>

#include "preload/handles.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Scan {
  static constexpr const char* name = "PMPI_Scan";

  static Offer offer(const Attachment& /*attachment*/, const void* in, const void* out, int count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::scan, 0, count, type, op);
    if (is_missing(in, count, type) || is_missing(out, count, type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, int /*count*/,
                  MPI_Datatype /*type*/, MPI_Op /*op*/, MPI_Comm /*comm*/) {
    const detail::Buffers buffers = operands(call, in == MPI_IN_PLACE ? out : in, call.count, out, call.count);
    detail::scan(attachment.communicator(), buffers, {.op = call.op, .owner = nullptr}, {});
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Scan;

int PMPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return chorus::preload::take_over<Scan>(in, out, count, type, op, comm);
}
int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return chorus::preload::pass_tools<Scan>(in, out, count, type, op, comm);
}
