// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include "base/callers_function.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace chorus {

void Reduction::call(const std::byte* left, std::byte* right, std::size_t count) const {
  const CallersFunction inside;
  try {
    join_(function_, right, left, right, count);  // MPI's functions write to the right one, too
  } catch (...) {
    CallersFunction::report();
  }
}

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
    for (std::size_t rank = inputs.size() - 1; rank-- > 0;) call(inputs[rank] + offset, block.data(), elements);
    std::memcpy(out + offset, block.data(), elements * element_);
  }
}

}  // namespace chorus
