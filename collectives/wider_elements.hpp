// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus {

/// True where `algorithm` carries the numbers of `problem` as wider elements, because it joins them in several steps
/// and would round after each: those of reproducible sums as ExactSums, joined by a function, and 16-bit floats as
/// float.
[[nodiscard]] bool carries_wider(const Algorithm& algorithm, const Problem& problem) noexcept;

/// The problem of carrying the numbers of `problem` so.
[[nodiscard]] Problem with_wider_elements(Problem problem) noexcept;

/// Carries out a call by `algorithm` with wider elements, a part of the vector at a time. They become numbers again,
/// divided for an average, where this rank gets a result: of `combined_ranks` contributions, which is 0 elsewhere.
Task<> run_with_wider_elements(const Algorithm& algorithm, Transport& transport, Arguments arguments,
                               int combined_ranks);

}  // namespace chorus
