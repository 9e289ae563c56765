// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce_scatter_block.hpp>

#include "preload/handles.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct ReduceScatterBlock {
  static constexpr const char* name = "PMPI_Reduce_scatter_block";

  static Offer offer(const Attachment& /*attachment*/, const void* in, const void* out, int count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm /*comm*/) {
    Offer offer = offer_reduction(Collective::reduce_scatter_block, 0, count, type, op);
    if (is_missing(in, count, type) || is_missing(out, count, type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, int /*count*/,
                  MPI_Datatype /*type*/, MPI_Op /*op*/, MPI_Comm /*comm*/) {
    const std::size_t total = static_cast<std::size_t>(attachment.size()) * call.count;
    const bool in_place = in == MPI_IN_PLACE;
    const detail::Buffers buffers = operands(call, in_place ? out : in, total, out, in_place ? total : call.count);
    detail::reduce_scatter_block(attachment.communicator(), buffers, {.op = call.op, .owner = nullptr}, {});
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::ReduceScatterBlock;

int PMPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return chorus::preload::take_over<ReduceScatterBlock>(in, out, count, type, op, comm);
}
int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return chorus::preload::pass_tools<ReduceScatterBlock>(in, out, count, type, op, comm);
}
