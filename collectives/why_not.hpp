// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

#include <string>

namespace chorus {

/// Why `algorithm`, which does not apply to `problem`, does not: found out by asking it for problems that differ from
/// this one in one thing. Empty where none of these would do.
[[nodiscard]] std::string why_not(const Algorithm& algorithm, const Problem& problem);

}  // namespace chorus
