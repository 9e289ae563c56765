// SPDX-License-Identifier: Apache-2.0
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

/// Where the blocks of a buffer lie, in bytes, and what each consists of.
struct Typed {
  const void* buffer;
  const int* counts;
  const int* displacements;
  const MPI_Datatype* types;
};

bool valid(const Typed& all, int ranks) {
  if (all.counts == nullptr || all.displacements == nullptr || all.types == nullptr) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    if (all.counts[rank] == 0) continue;  // then programs pass no type
    if (!extent(all.counts[rank], all.types[rank]).valid) return false;
    if (is_missing(all.buffer, all.counts[rank], all.types[rank])) return false;
  }
  return true;
}

std::vector<Block> blocks_of(const Typed& all, int ranks) {
  std::vector<Block> blocks(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    if (all.counts[rank] == 0) continue;
    blocks[static_cast<std::size_t>(rank)] = block_of(
        static_cast<const std::byte*>(all.buffer) + all.displacements[rank], all.counts[rank], all.types[rank]);
  }
  return blocks;
}

struct Alltoallw {
  static constexpr const char* name = "PMPI_Alltoallw";

  static Offer offer(const Attachment& attachment, const void* in, const int* in_counts, const int* in_displacements,
                     const MPI_Datatype* in_types, const void* out, const int* out_counts, const int* out_displacements,
                     const MPI_Datatype* out_types, MPI_Comm /*comm*/) {
    const int ranks = attachment.size();
    const bool sends = in == MPI_IN_PLACE || valid({in, in_counts, in_displacements, in_types}, ranks);
    const bool receives = valid({out, out_counts, out_displacements, out_types}, ranks);
    return offer_exchange(Collective::alltoallv, 0, sends && receives);
  }

  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, const int* in_counts,
                  const int* in_displacements, const MPI_Datatype* in_types, void* out, const int* out_counts,
                  const int* out_displacements, const MPI_Datatype* out_types, MPI_Comm comm) {
    const int ranks = attachment.size();
    const RankBlocks result(blocks_of({out, out_counts, out_displacements, out_types}, ranks), comm);
    if (in == MPI_IN_PLACE) return exchange(attachment.communicator(), result, result);
    exchange(attachment.communicator(), {blocks_of({in, in_counts, in_displacements, in_types}, ranks), comm}, result);
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Alltoallw;

int PMPI_Alltoallw(const void* in, const int* in_counts, const int* in_displacements, const MPI_Datatype* in_types,
                   void* out, const int* out_counts, const int* out_displacements, const MPI_Datatype* out_types,
                   MPI_Comm comm) {
  return chorus::preload::take_over<Alltoallw>(in, in_counts, in_displacements, in_types, out, out_counts,
                                               out_displacements, out_types, comm);
}
int MPI_Alltoallw(const void* in, const int* in_counts, const int* in_displacements, const MPI_Datatype* in_types,
                  void* out, const int* out_counts, const int* out_displacements, const MPI_Datatype* out_types,
                  MPI_Comm comm) {
  return chorus::preload::pass_tools<Alltoallw>(in, in_counts, in_displacements, in_types, out, out_counts,
                                                out_displacements, out_types, comm);
}
