// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "phases.hpp"

#include <cstddef>

namespace chorus {

/// A collective of a vector by `lanes`: in every node the vector is cut into a share for each lane, what is to be done
/// between the nodes is done with each share along its lane, and the shares come together again.
///
/// Long vectors are cut into segments, and the three phases of three segments go on at a time:
///
///            inside the node            along the lanes
///   step 0   into shares 0
///   step 1   into shares 1              between the nodes 0
///   step 2   together 0, into shares 2  between the nodes 1
///   step 3   together 1                 between the nodes 2
///   step 4   together 2
struct InLanes {
  Collective into = Collective::reduce_scatter_block;  ///< or scatter, in the root's node
  Collective between = Collective::allreduce;          ///< or bcast, or reduce
  Collective together = Collective::allgather;         ///< or gather, in the root's node

  [[nodiscard]] Traffic traffic(const Problem& problem) const;
  [[nodiscard]] Task<> run(Transport& transport, Arguments arguments) const;
};

}  // namespace chorus
