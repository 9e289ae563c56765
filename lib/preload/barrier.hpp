// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/barrier.hpp>

#include "preload/attachment.hpp"

namespace chorus::preload {

struct Barrier {
  static Offer offer(const Attachment& /*attachment*/, MPI_Comm /*comm*/) {
    return {.path = Path::chorus, .call = {.collective = Collective::barrier}, .lasting = true};
  }

  static void run(const Attachment& attachment, const Call& /*call*/, MPI_Comm /*comm*/) {
    barrier(attachment.communicator());
  }
};

}  // namespace chorus::preload
