// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus {

/// True where `algorithm` carries out `call` by ExactSums in place of numbers, joined by a function.
[[nodiscard]] inline bool carries_exact_sums(const Algorithm& algorithm, const Call& call) noexcept {
  return call.repeatability == Repeatability::reproducible && !algorithm.at_once;
}

/// The problem of carrying ExactSums for the numbers of `problem`.
[[nodiscard]] Problem with_exact_sums(Problem problem) noexcept;

/// Carries out a reproducible call by `algorithm` with ExactSums, a part of the vector at a time; rounds them where
/// this rank gets a result.
Task<> run_with_exact_sums(const Algorithm& algorithm, Transport& transport, Arguments arguments, bool gets_result);

}  // namespace chorus
