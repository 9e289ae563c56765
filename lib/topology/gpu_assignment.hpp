// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/gpu_distance.hpp"

namespace chorus {

/// A distance that stands for none: the rank cannot use the GPU.
inline constexpr int out_of_reach = -1;

/// Gives each rank a GPU: the element of the result is its number, or -1 for a rank that can use none.
///
/// `distances[rank][gpu]` is 0 or more, or out_of_reach; all rows have the same length. Of all assignments those are
/// looked at whose GPU with the most ranks has as few as can be; of these, those whose sum of distances is least; of
/// these, those that spread the ranks most evenly (the least sum of the squares of ranks per GPU). There can still be
/// several: rank 0 gets the first GPU that it has in any of them, then rank 1, and so on.
[[nodiscard]] std::vector<int> assign_gpus(const std::vector<std::vector<int>>& distances);

/// A GPU as a rank can use it.
struct SeenGpu {
  std::array<std::uint8_t, 16> uuid{};
  GpuDistance distance = GpuDistance::unknown;
};

/// A rank and the GPUs that it can use, by CUDA's numbers in its process.
struct GpuUser {
  std::uint64_t node = 0;  ///< the same for ranks on one machine
  std::vector<SeenGpu> gpus;
};

/// What each of `ranks` takes: the number of one of its GPUs, or -1 where it has none. On each node by itself: by
/// `wanted` where that is not empty, whose element is the number for the rank with that place on its node; otherwise by
/// `assign_gpus`, with the GPUs in the order in which ranks have them first.
/// Throws Error{invalid_environment} where `wanted`, which is CHORUS_GPUS, is too short or names a GPU that a rank has
/// not; `caller` begins its text.
[[nodiscard]] std::vector<int> take_gpus(const std::vector<GpuUser>& ranks, const std::vector<int>& wanted,
                                         const std::string& caller);

}  // namespace chorus
