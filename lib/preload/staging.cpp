// SPDX-License-Identifier: Apache-2.0
#include "preload/staging.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>

namespace chorus::preload {
namespace {

/// Calls `move(place, count, offset in the packed bytes, bytes)` with parts of a block, each no longer than MPI packs
/// at a time.
template <class Move>
void in_parts(const Block& block, const Move& move) {
  if (block.bytes() == 0) return;
  const auto count = static_cast<std::size_t>(block.count);
  const std::size_t element_bytes = block.type.bytes;
  const std::size_t most = INT_MAX / element_bytes;
  if (most == 0) {
    throw Error(
        ErrorCode::not_supported,
        fmt::format("an element of a data type has {} bytes; MPI packs no more than {}", element_bytes, INT_MAX));
  }
  MPI_Aint lowest = 0;
  MPI_Aint extent = 0;
  check(PMPI_Type_get_extent(block.type.handle, &lowest, &extent));
  for (std::size_t done = 0; done < count; done += most) {
    const std::size_t part = std::min(most, count - done);
    std::byte* const place = static_cast<std::byte*>(block.place) + static_cast<MPI_Aint>(done) * extent;
    move(place, static_cast<int>(part), done * element_bytes, static_cast<int>(part * element_bytes));
  }
}

}  // namespace

void pack(const Block& block, std::byte* packed, MPI_Comm comm) {
  if (block.type.plain) {
    if (on_device(block.place)) return copy_anywhere(packed, block.place, block.bytes());
    if (block.bytes() > 0) std::memmove(packed, block.place, block.bytes());
    return;
  }
  in_parts(block, [&](const std::byte* place, int count, std::size_t offset, int bytes) {
    int position = 0;
    check(PMPI_Pack(place, count, block.type.handle, packed + offset, bytes, &position, comm));
  });
}

void unpack(const std::byte* packed, const Block& block, MPI_Comm comm) {
  if (block.type.plain) {
    if (on_device(block.place)) return copy_anywhere(block.place, packed, block.bytes());
    if (block.bytes() > 0) std::memmove(block.place, packed, block.bytes());
    return;
  }
  in_parts(block, [&](std::byte* place, int count, std::size_t offset, int bytes) {
    int position = 0;
    check(PMPI_Unpack(packed + offset, bytes, &position, place, count, block.type.handle, comm));
  });
}

void Outgoing::stage(const Block& block, MPI_Comm comm) {
  packed_ = std::make_unique_for_overwrite<std::byte[]>(block.bytes());
  pack(block, packed_.get(), comm);
  data_ = packed_.get();
}

void Incoming::set_apart() {
  MPI_Aint lowest = 0;
  MPI_Aint extent = 0;
  check(PMPI_Type_get_extent(first_.type.handle, &lowest, &extent));
  stride_ = extent * first_.count;
  packed_ = std::make_unique_for_overwrite<std::byte[]>(first_.bytes() * static_cast<std::size_t>(blocks_));
}

Block Incoming::block(int index) const noexcept {
  return {static_cast<std::byte*>(first_.place) + index * stride_, first_.count, first_.type};
}

std::byte* Incoming::bytes_of(int index) const noexcept {
  return static_cast<std::byte*>(data()) + static_cast<std::size_t>(index) * first_.bytes();
}

void Incoming::put(int index, const Block& block) const { pack(block, bytes_of(index), comm_); }

void Incoming::get(int index, const Block& block) const { unpack(bytes_of(index), block, comm_); }

void Incoming::unpack_all() const {
  for (int index = 0; index < blocks_; ++index) get(index, block(index));
}

}  // namespace chorus::preload
