// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/section.hpp"
#include "transport/native.hpp"

#include <vector>

namespace chorus {

/// What a rank sends to each rank, as sections of its `in`, and gets from each, as sections of its `out`.
struct ExchangedSections {
  std::vector<Section> in;
  std::vector<Section> out;
};
/// Of alltoall, gather, scatter, and of the collectives whose blocks differ in length, on rank `rank` of `ranks`.
[[nodiscard]] ExchangedSections sections_of(const Call& call, const Native::Buffers& buffers, int rank, int ranks);

}  // namespace chorus
