// SPDX-License-Identifier: Apache-2.0
#include <chorus/allgatherv.hpp>

#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Allgatherv {
  static constexpr const char* name = "PMPI_Allgatherv";

  static Offer offer(const Attachment& attachment, const void* in, int in_count, MPI_Datatype in_type, const void* out,
                     const int* out_counts, const int* out_displacements, MPI_Datatype out_type, MPI_Comm /*comm*/) {
    const Extent all = extent(out, out_counts, out_displacements, out_type, attachment.size());
    Offer offer = offer_move(Collective::allgatherv, 0, all);
    if (in == MPI_IN_PLACE) return offer;
    if (!extent(in_count, in_type).valid || is_missing(in, in_count, in_type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, int in_count,
                  MPI_Datatype in_type, void* out, const int* out_counts, const int* out_displacements,
                  MPI_Datatype out_type, MPI_Comm comm) {
    const RankBlocks result(blocks_of(out, out_counts, out_displacements, out_type, attachment.size()), comm);
    if (in == MPI_IN_PLACE) {
      result.take_in(attachment.rank());
    } else {
      result.put(attachment.rank(), block_of(in, in_count, in_type));
    }
    const CommonBuffer buffer(result);
    detail::allgatherv(attachment.communicator(), buffer.buffers(), buffer.layout(), {});
    result.deliver();
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Allgatherv;

int PMPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                    const int* out_displacements, MPI_Datatype out_type, MPI_Comm comm) {
  return chorus::preload::take_over<Allgatherv>(in, in_count, in_type, out, out_counts, out_displacements, out_type,
                                                comm);
}
int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                   const int* out_displacements, MPI_Datatype out_type, MPI_Comm comm) {
  return chorus::preload::pass_tools<Allgatherv>(in, in_count, in_type, out, out_counts, out_displacements, out_type,
                                                 comm);
}
