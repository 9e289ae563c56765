// SPDX-License-Identifier: Apache-2.0
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Alltoallv {
  static constexpr const char* name = "PMPI_Alltoallv";

  static Offer offer(const Attachment& attachment, const void* in, const int* in_counts, const int* in_displacements,
                     MPI_Datatype in_type, const void* out, const int* out_counts, const int* out_displacements,
                     MPI_Datatype out_type, MPI_Comm /*comm*/) {
    const bool sends = in == MPI_IN_PLACE || extent(in, in_counts, in_displacements, in_type, attachment.size()).valid;
    const bool receives = extent(out, out_counts, out_displacements, out_type, attachment.size()).valid;
    return offer_exchange(Collective::alltoallv, 0, sends && receives);
  }

  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, const int* in_counts,
                  const int* in_displacements, MPI_Datatype in_type, void* out, const int* out_counts,
                  const int* out_displacements, MPI_Datatype out_type, MPI_Comm comm) {
    const int ranks = attachment.size();
    const RankBlocks result(blocks_of(out, out_counts, out_displacements, out_type, ranks), comm);
    if (in == MPI_IN_PLACE) return exchange(attachment.communicator(), result, result);
    exchange(attachment.communicator(), {blocks_of(in, in_counts, in_displacements, in_type, ranks), comm}, result);
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Alltoallv;

int PMPI_Alltoallv(const void* in, const int* in_counts, const int* in_displacements, MPI_Datatype in_type, void* out,
                   const int* out_counts, const int* out_displacements, MPI_Datatype out_type, MPI_Comm comm) {
  return chorus::preload::take_over<Alltoallv>(in, in_counts, in_displacements, in_type, out, out_counts,
                                               out_displacements, out_type, comm);
}
int MPI_Alltoallv(const void* in, const int* in_counts, const int* in_displacements, MPI_Datatype in_type, void* out,
                  const int* out_counts, const int* out_displacements, MPI_Datatype out_type, MPI_Comm comm) {
  return chorus::preload::pass_tools<Alltoallv>(in, in_counts, in_displacements, in_type, out, out_counts,
                                                out_displacements, out_type, comm);
}
