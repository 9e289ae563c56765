// SPDX-License-Identifier: Apache-2.0
#include "preload/staging.hpp"

#include "preload/handles.hpp"

namespace chorus::preload {
namespace {

void check(int code) {
  if (code != MPI_SUCCESS) throw Raised{code};
}

void pack(const void* buffer, const Blocks& block, std::byte* packed, MPI_Comm comm) {
  int position = 0;
  check(PMPI_Pack(buffer, block.count, block.type, packed, static_cast<int>(block.bytes), &position, comm));
}

}  // namespace

Outgoing::Outgoing(const Blocks& block, MPI_Comm comm) : data_(block.buffer) {
  if (is_plain(block.type)) return;
  packed_ = std::make_unique_for_overwrite<std::byte[]>(block.bytes);
  pack(block.buffer, block, packed_.get(), comm);
  data_ = packed_.get();
}

Incoming::Incoming(const Blocks& blocks, MPI_Comm comm) : blocks_(blocks), comm_(comm) {
  if (is_plain(blocks.type)) return;
  MPI_Aint lowest = 0;
  MPI_Aint extent = 0;
  check(PMPI_Type_get_extent(blocks.type, &lowest, &extent));
  stride_ = extent * blocks.count;
  packed_ = std::make_unique_for_overwrite<std::byte[]>(blocks.bytes * static_cast<std::size_t>(blocks.blocks));
}

void* Incoming::place_of(int index) const noexcept { return static_cast<std::byte*>(blocks_.buffer) + index * stride_; }

void Incoming::take_in(int index) {
  if (!packed_) return;
  pack(place_of(index), blocks_, packed_.get() + static_cast<std::size_t>(index) * blocks_.bytes, comm_);
}

void Incoming::deliver() const {
  if (!packed_) return;
  for (int index = 0; index < blocks_.blocks; ++index) {
    const std::byte* const block = packed_.get() + static_cast<std::size_t>(index) * blocks_.bytes;
    int position = 0;
    check(PMPI_Unpack(block, static_cast<int>(blocks_.bytes), &position, place_of(index), blocks_.count, blocks_.type,
                      comm_));
  }
}

}  // namespace chorus::preload
