// SPDX-License-Identifier: Apache-2.0
#include "packs.hpp"

#include <array>
#include <cstring>

namespace chorus {
namespace {

/// Where packing has stopped to pay: what is longer takes as long as its bytes, not as its messages.
constexpr std::size_t automatic_bytes = std::size_t{1} << 20U;

/// A call through shared memory takes as long as copying so much in and out.
constexpr std::size_t short_in_memory = std::size_t{4} << 10U;

}  // namespace

Packs packs_of(std::span<const TensorRef> tensors, const CommunicationOptions& options, bool in_memory) {
  const bool automatic = options.bytes_per_pack == 0;
  const std::size_t limit = automatic ? automatic_bytes : options.bytes_per_pack;
  const std::size_t longest_packed = automatic && in_memory ? short_in_memory : limit;
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
    if (bytes > longest_packed) {
      packs.push_back({i});
      last.open &= longest_packed < limit;  // short ones go on together
      continue;
    }
    if (!last.open || last.bytes + bytes > limit) {
      last = {packs.size(), 0, true};
      packs.emplace_back();
    }
    packs[last.pack].push_back(i);
    last.bytes += bytes;
  }
  return packs;
}

std::size_t Packed::bytes_of(std::span<const TensorRef> tensors, std::span<const std::size_t> pack) {
  std::size_t bytes = 0;
  for (const std::size_t number : pack) bytes += pack.size() > 1 ? tensors[number].bytes() : 0;
  return bytes;
}

Packed::Packed(std::span<const TensorRef> tensors, std::span<const std::size_t> pack)
    : memory_(bytes_of(tensors, pack)) {
  if (pack.size() == 1) {
    tensor_ = tensors[pack.front()];
    return;
  }
  std::byte* next = memory_.data();
  for (const std::size_t number : pack) {
    const TensorRef& part = parts_.emplace_back(tensors[number]);
    if (part.bytes() != 0) std::memcpy(next, part.data, part.bytes());
    next += part.bytes();
  }
  const auto bytes = static_cast<std::size_t>(next - memory_.data());
  const DataType type = parts_.front().type;
  tensor_ = {.type = type, .shape = {bytes / size_of(type)}, .data = memory_.data()};
}

void Packed::unpack() const {
  const std::byte* next = memory_.data();
  for (const TensorRef& part : parts_) {
    if (part.bytes() != 0) std::memcpy(part.data, next, part.bytes());
    next += part.bytes();
  }
}

}  // namespace chorus
