// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce.hpp>

#include "preload/handles.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Reduce {
  static constexpr const char* name = "PMPI_Reduce";

  static Offer offer(const Attachment& attachment, const void* in, const void* out, int count, MPI_Datatype type,
                     MPI_Op op, int root, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::reduce, root, count, type, op);
    const bool is_root = attachment.rank() == root;
    if (!attachment.has(root) || is_missing(in, count, type) || (is_root && is_missing(out, count, type)) ||
        (!is_root && in == MPI_IN_PLACE)) {
      offer.path = Path::arguments;
    }
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, int /*count*/,
                  MPI_Datatype /*type*/, MPI_Op /*op*/, int root, MPI_Comm /*comm*/) {
    const detail::Buffers buffers = operands(call, in == MPI_IN_PLACE ? out : in, call.count, out, call.count);
    detail::reduce(attachment.communicator(), buffers, {.op = call.op, .owner = nullptr}, root, {});
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Reduce;

int PMPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return chorus::preload::take_over<Reduce>(in, out, count, type, op, root, comm);
}
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return chorus::preload::pass_tools<Reduce>(in, out, count, type, op, root, comm);
}
