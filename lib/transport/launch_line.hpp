// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/node_memory.hpp"

#include <chorus/detail/launch.hpp>

#include <span>
#include <string>

namespace chorus {

/// Who has started a job, where its ranks are, and how they are bound, in one line without a line break:
///
///   launched by srun: 4 ranks on 3 hosts (node1 1, node2 2, node3 1), each bound to 1 core
///
/// `ranks` are all of the job, 1 or more.
[[nodiscard]] std::string launch_line(const detail::Launch& launch, std::span<const PeerRecord> ranks);

}  // namespace chorus
