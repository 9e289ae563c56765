// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ranges>
#include <vector>

namespace chorus {

void Reduction::join_all(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count) const {
  alignas(std::max_align_t) std::array<std::byte, 4096> some;
  std::vector<std::byte> one;
  if (element_ > some.size()) one.resize(element_);
  const std::span<std::byte> block = one.empty() ? std::span<std::byte>(some) : one;
  const std::size_t most = block.size() / element_;
  for (std::size_t done = 0; done < count; done += most) {
    const std::size_t elements = std::min(most, count - done);
    const std::size_t offset = done * element_;
    std::memcpy(block.data(), inputs.back() + offset, elements * element_);
    for (const std::byte* const input : inputs.first(inputs.size() - 1) | std::views::reverse) {
      join_(function_, block.data(), input + offset, block.data(), elements);  // MPI's functions write to the right one
    }
    std::memcpy(out + offset, block.data(), elements * element_);
  }
}

}  // namespace chorus
