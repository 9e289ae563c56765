// SPDX-License-Identifier: Apache-2.0
#include "buffers.hpp"

namespace chorus::bench {

RankBuffers::Pair& RankBuffers::pair() {
  static Pair of_all;
  return own_ ? mine_ : of_all;
}

std::span<const float> RankBuffers::in(const Lengths& lengths) {
  std::vector<float>& memory = pair().in;
  if (memory.size() < lengths.in) memory.resize(lengths.in);
  return std::span(memory).first(lengths.in);
}

std::span<float> RankBuffers::out(const Lengths& lengths) {
  std::vector<float>& memory = pair().out;
  if (memory.size() < lengths.out) memory.resize(lengths.out);
  return std::span(memory).first(lengths.out);
}

}  // namespace chorus::bench
