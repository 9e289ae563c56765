// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/reduce_scatter.hpp>

#include "preload/attachment.hpp"
#include "preload/handles.hpp"
#include "preload/per_rank.hpp"
#include "preload/reductions.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace chorus::preload {

struct ReduceScatter {
  template <class Count>
  static Offer offer(const Attachment& attachment, const void* in, const void* out, const Count* counts,
                     MPI_Datatype type, MPI_Op op, MPI_Comm /*comm*/) {
    const bool known = counts != nullptr && std::all_of(counts, counts + attachment.size(), is_count);
    const MPI_Count all = known ? std::accumulate(counts, counts + attachment.size(), MPI_Count{0}) : -1;
    Offer offer = offer_reduction(Collective::reduce_scatter, 0, all, type, op);
    offer.lasting = false;  // the same array may hold other counts
    if (!known) return offer;
    const MPI_Count held = in == MPI_IN_PLACE ? all : counts[attachment.rank()];  // by `out`
    if (!has_input(in, all, type) || is_missing(out, held, type)) offer.path = Path::arguments;
    return offer;
  }

  template <class Count>
  static void run(const Attachment& attachment, const Call& call, const void* in, void* out, const Count* counts,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const std::size_t elements = elements_of(call, type);
    const PerRank<std::size_t> blocks(static_cast<std::size_t>(attachment.size()), [&](std::size_t rank) {
      return static_cast<std::size_t>(counts[rank]) * elements;
    });
    const bool in_place = in == MPI_IN_PLACE || in == out;
    const std::size_t own = blocks[static_cast<std::size_t>(attachment.rank())];
    const OfferedReduction reduction(
        call, operands(call, in_place ? out : in, call.count, out, in_place ? call.count : own), type, op, comm);
    detail::reduce_scatter(attachment.communicator(), reduction.buffers(), blocks.all(), reduction.operation(), {});
    reduction.deliver();
  }

 private:
  static bool is_count(MPI_Count count) { return count >= 0; }
};

}  // namespace chorus::preload
