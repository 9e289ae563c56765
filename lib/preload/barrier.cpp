// SPDX-License-Identifier: Apache-2.0
#include <chorus/barrier.hpp>

#include "preload/take_over.hpp"

namespace chorus::preload {
namespace {

struct Barrier {
  static constexpr const char* name = "PMPI_Barrier";

  static Offer offer(const Attachment& /*attachment*/, MPI_Comm /*comm*/) {
    return {.path = Path::chorus, .call = {.collective = Collective::barrier}};
  }

  static void run(const Attachment& attachment, const Call& /*call*/, MPI_Comm /*comm*/) {
    barrier(attachment.communicator());
  }
};

}  // namespace
}  // namespace chorus::preload

using chorus::preload::Barrier;

int PMPI_Barrier(MPI_Comm comm) { return chorus::preload::take_over<Barrier>(comm); }
int MPI_Barrier(MPI_Comm comm) { return chorus::preload::pass_tools<Barrier>(comm); }
