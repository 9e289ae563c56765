// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus {

/// True for scan, in whose result a rank has its own contribution; false for exscan.
[[nodiscard]] inline bool has_own(const Call& call) noexcept { return call.collective == Collective::scan; }

}  // namespace chorus
