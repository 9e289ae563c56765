// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/settings.hpp"

#include <chorus/options.hpp>

namespace chorus {

/// What a call with `options` asks of the bits of its result, where it reduces.
[[nodiscard]] inline Repeatability wanted(const CollectiveOptions& options, const Settings& settings) noexcept {
  if (options.reproducible || settings.reproducible) return Repeatability::reproducible;
  if (options.deterministic || settings.deterministic) return Repeatability::deterministic;
  return Repeatability::none;
}

/// `call`, asking for as much of `wanted` as means something to it: `reproducible` for sums and averages of float32,
/// float64 and their complex types, `deterministic` for other reductions of floating-point types and for functions of
/// the caller's, nothing for the rest, whose results have the same bits always.
[[nodiscard]] Call asking_for(Repeatability wanted, Call call) noexcept;

}  // namespace chorus
