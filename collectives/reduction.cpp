// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace chorus {

void Reduction::join_all(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count) const {
  std::array<std::byte, 4096> some;
  std::vector<std::byte> one;
  if (element_ > some.size()) one.resize(element_);
  const std::span<std::byte> block = one.empty() ? std::span<std::byte>(some) : one;
  const std::size_t most = block.size() / element_;
  for (std::size_t done = 0; done < count; done += most) {
    const std::size_t elements = std::min(most, count - done);
    const std::size_t offset = done * element_;
    std::memcpy(block.data(), inputs[0] + offset, elements * element_);
    for (const std::byte* const input : inputs.subspan(1)) {
      join_(function_, block.data(), block.data(), input + offset, elements);
    }
    std::memcpy(out + offset, block.data(), elements * element_);
  }
}

}  // namespace chorus
