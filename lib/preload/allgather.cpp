// SPDX-License-Identifier: Apache-2.0
#include <chorus/allgather.hpp>

#include "preload/handles.hpp"
#include "preload/staging.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Allgather {
  static constexpr const char* name = "PMPI_Allgather";

  static Offer offer(const Attachment& /*attachment*/, const void* in, int in_count, MPI_Datatype in_type,
                     const void* out, int out_count, MPI_Datatype out_type, MPI_Comm /*comm*/) {
    const Extent block = extent(out_count, out_type);
    Offer offer = offer_move(Collective::allgather, 0, block);
    if (is_missing(out, out_count, out_type)) offer.path = Path::arguments;
    if (in == MPI_IN_PLACE) return offer;
    const Extent own = extent(in_count, in_type);
    if (!own.valid || own.bytes != block.bytes || is_missing(in, in_count, in_type)) offer.path = Path::arguments;
    return offer;
  }

  static void run(const Attachment& attachment, const Call& call, const void* in, int in_count, MPI_Datatype in_type,
                  void* out, int out_count, MPI_Datatype out_type, MPI_Comm comm) {
    const auto ranks = static_cast<std::size_t>(attachment.size());
    const std::size_t total = ranks * call.count;
    Incoming result({out, out_count, out_type, call.count, attachment.size()}, comm);
    // Programs pass their place in the result as a buffer of its own, although MPI forbids it.
    const void* const own_place =
        static_cast<std::byte*>(out) + static_cast<std::size_t>(attachment.rank()) * call.count;
    if (in == MPI_IN_PLACE || (in == own_place && is_plain(out_type))) {
      result.take_in(attachment.rank());
      detail::allgather(attachment.communicator(), bytes(result.data(), total, result.data(), total), {});
    } else {
      const Outgoing own({const_cast<void*>(in), in_count, in_type, call.count}, comm);
      detail::allgather(attachment.communicator(), bytes(own.data(), call.count, result.data(), total), {});
    }
    result.deliver();
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Allgather;

int PMPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                   MPI_Comm comm) {
  return chorus::preload::take_over<Allgather>(in, in_count, in_type, out, out_count, out_type, comm);
}
int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                  MPI_Comm comm) {
  return chorus::preload::pass_tools<Allgather>(in, in_count, in_type, out, out_count, out_type, comm);
}
