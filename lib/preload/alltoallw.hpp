// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/rank_blocks.hpp"

namespace chorus::preload {

/// Where the blocks of a buffer lie, in bytes, and what each consists of.
template <class Count, class Displacement>
struct Typed {
  const void* buffer;
  const Count* counts;
  const Displacement* displacements;
  const MPI_Datatype* types;
};

template <class Count, class Displacement>
bool valid(const Typed<Count, Displacement>& all, int ranks) {
  if (all.counts == nullptr || all.displacements == nullptr || all.types == nullptr) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    if (all.counts[rank] == 0) continue;  // then programs pass no type
    if (!extent(all.counts[rank], all.types[rank]).valid) return false;
    if (is_missing(all.buffer, all.displacements[rank], all.counts[rank], all.types[rank])) return false;
  }
  return true;
}

template <class Count, class Displacement>
auto blocks_of(const Typed<Count, Displacement>& all) {
  return [all](std::size_t rank) {
    const std::byte* const place = static_cast<const std::byte*>(all.buffer) + all.displacements[rank];
    return all.counts[rank] == 0 ? Block() : block_of(place, all.counts[rank], all.types[rank]);
  };
}

struct Alltoallw {
  template <class Count, class Displacement>
  static Offer offer(const Attachment& attachment, const void* in, const Count* in_counts,
                     const Displacement* in_displacements, const MPI_Datatype* in_types, const void* out,
                     const Count* out_counts, const Displacement* out_displacements, const MPI_Datatype* out_types,
                     MPI_Comm /*comm*/) {
    const int ranks = attachment.size();
    const bool sends =
        in == MPI_IN_PLACE || valid(Typed<Count, Displacement>{in, in_counts, in_displacements, in_types}, ranks);
    const bool receives = valid(Typed<Count, Displacement>{out, out_counts, out_displacements, out_types}, ranks);
    return offer_exchange(Collective::alltoallw, 0, sends && receives);
  }

  template <class Count, class Displacement>
  static void run(const Attachment& attachment, const Call& /*call*/, const void* in, const Count* in_counts,
                  const Displacement* in_displacements, const MPI_Datatype* in_types, void* out,
                  const Count* out_counts, const Displacement* out_displacements, const MPI_Datatype* out_types,
                  MPI_Comm comm) {
    const int ranks = attachment.size();
    const Typed<Count, Displacement> got{out, out_counts, out_displacements, out_types};
    const RankBlocks result(ranks, blocks_of(got), comm);
    if (in == MPI_IN_PLACE) return exchange(attachment.communicator(), result, result);
    const Typed<Count, Displacement> sent{in, in_counts, in_displacements, in_types};
    exchange(attachment.communicator(), RankBlocks(ranks, blocks_of(sent), comm, &result), result);
  }
};

}  // namespace chorus::preload
