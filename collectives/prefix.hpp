// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus {

// The algorithms that scan and exscan share. All combine strictly in the order of the ranks.

/// True for scan, in whose result a rank has its own contribution; false for exscan.
[[nodiscard]] inline bool has_own(const Call& call) noexcept { return call.collective == Collective::scan; }

namespace prefix_shared {
[[nodiscard]] bool applies(const Problem& problem);
[[nodiscard]] Traffic traffic(const Problem& problem);
Task<> run(Transport& transport, Arguments arguments);
}  // namespace prefix_shared

namespace prefix_segments {
[[nodiscard]] bool applies(const Problem& problem);
[[nodiscard]] Traffic traffic(const Problem& problem);
Task<> run(Transport& transport, Arguments arguments);
}  // namespace prefix_segments

namespace prefix_recursive_doubling {
[[nodiscard]] bool applies(const Problem& problem);
[[nodiscard]] Traffic traffic(const Problem& problem);
Task<> run(Transport& transport, Arguments arguments);
}  // namespace prefix_recursive_doubling

namespace prefix_chain {
[[nodiscard]] bool applies(const Problem& problem);
[[nodiscard]] Traffic traffic(const Problem& problem);
Task<> run(Transport& transport, Arguments arguments);
}  // namespace prefix_chain

namespace prefix_hierarchical {
[[nodiscard]] bool applies(const Problem& problem);
[[nodiscard]] Traffic traffic(const Problem& problem);
Task<> run(Transport& transport, Arguments arguments);
}  // namespace prefix_hierarchical

namespace prefix_native {
[[nodiscard]] Traffic traffic(const Problem& problem);
}  // namespace prefix_native

}  // namespace chorus
