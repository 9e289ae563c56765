// SPDX-License-Identifier: Apache-2.0
#include "packs.hpp"

#include <array>
#include <cstring>

namespace chorus {
namespace {

/// Where packing has stopped to pay: what is longer takes as long as its bytes, not as its messages.
constexpr std::size_t automatic_bytes = std::size_t{1} << 20U;

}  // namespace

Packs packs_of(std::span<const TensorRef> tensors, std::size_t bytes_per_pack) {
  const std::size_t limit = bytes_per_pack != 0 ? bytes_per_pack : automatic_bytes;
  struct Open {
    std::size_t pack = 0;
    std::size_t bytes = 0;
    bool open = false;
  };
  std::array<Open, data_type_count> open_packs;
  Packs packs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Open& last = open_packs.at(static_cast<std::size_t>(tensors[i].type));
    const std::size_t bytes = tensors[i].bytes();
    if (!last.open || last.bytes + bytes > limit) {
      last = {packs.size(), 0, true};
      packs.emplace_back();
    }
    packs[last.pack].push_back(i);
    last.bytes += bytes;
  }
  return packs;
}

Packed::Packed(std::span<const TensorRef> tensors, std::span<const std::size_t> pack) {
  if (pack.size() == 1) {
    tensor_ = tensors[pack.front()];
    return;
  }
  std::size_t bytes = 0;
  for (const std::size_t number : pack) {
    parts_.push_back(tensors[number]);
    bytes += tensors[number].bytes();
  }
  memory_.resize(bytes);
  tensor_ = {.type = parts_.front().type, .shape = {bytes / size_of(parts_.front().type)}, .data = memory_.data()};
  std::byte* next = memory_.data();
  for (const TensorRef& part : parts_) {
    if (part.bytes() != 0) std::memcpy(next, part.data, part.bytes());
    next += part.bytes();
  }
}

void Packed::unpack() const {
  const std::byte* next = memory_.data();
  for (const TensorRef& part : parts_) {
    if (part.bytes() != 0) std::memcpy(part.data, next, part.bytes());
    next += part.bytes();
  }
}

}  // namespace chorus
