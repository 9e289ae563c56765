// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device_memory.hpp"
#include "preload/handles.hpp"

#include <chorus/detail/buffers.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

// Data types made by the program on their way through collectives that move bytes: their elements are packed before,
// and unpacked after. A rank cannot know whether the others' data lies in memory as its own does, so that all types go.
namespace chorus::preload {

/// Thrown where MPI has refused to pack, unpack or reduce, and has called an error handler.
struct Raised : std::exception {
  explicit Raised(int mpi_code) noexcept : code(mpi_code) {}
  [[nodiscard]] const char* what() const noexcept override { return "MPI has refused it"; }
  int code;
};

/// Throws Raised unless `code` is MPI_SUCCESS.
inline void check(int code) {
  if (code != MPI_SUCCESS) throw Raised(code);
}

/// `count` elements at one place.
struct Block {
  void* place = nullptr;
  MPI_Count count = 0;
  Type type;

  /// Without the gaps.
  [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(count) * type.bytes; }
};

[[nodiscard]] inline Block block_of(const void* place, MPI_Count count, MPI_Datatype type) noexcept {
  return {const_cast<void*>(place), count, type_of(type)};
}

/// True where a collective cannot take a block as it lies there: it is packed, or in memory of a GPU, copied.
[[nodiscard]] inline bool is_staged(const Block& block) noexcept { return !block.type.plain || on_device(block.place); }

/// Copies a block to `packed`, and from there, without the gaps.
void pack(const Block& block, std::byte* packed, MPI_Comm comm);
void unpack(const std::byte* packed, const Block& block, MPI_Comm comm);

/// The buffers of a collective that moves bytes.
[[nodiscard]] inline detail::Buffers bytes(const void* in, std::size_t in_bytes, void* out,
                                           std::size_t out_bytes) noexcept {
  return {in, out, in_bytes, out_bytes, DataType::uint8};
}

/// Whether two pieces of memory have bytes in common. MPI forbids that of what is sent and received, and programs do
/// it: then what is sent is copied before.
[[nodiscard]] inline bool overlap(const void* one, std::size_t one_bytes, const void* other,
                                  std::size_t other_bytes) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(one);
  const auto second = reinterpret_cast<std::uintptr_t>(other);
  return first < second + other_bytes && second < first + one_bytes;
}

/// What a collective reads: one block.
class Outgoing {
 public:
  Outgoing(const Block& block, MPI_Comm comm) : data_(block.place) {
    if (is_staged(block)) stage(block, comm);
  }
  [[nodiscard]] const void* data() const noexcept { return data_; }

 private:
  void stage(const Block& block, MPI_Comm comm);

  const void* data_;
  std::unique_ptr<std::byte[]> packed_;
};

/// What a collective writes, or reads of several blocks that are alike, one behind another: in memory of its own where
/// it is to be `apart`.
class Incoming {
 public:
  Incoming(const Block& first, int blocks, MPI_Comm comm, bool apart = false)
      : first_(first), blocks_(blocks), comm_(comm) {
    if (apart || is_staged(first)) set_apart();
  }
  [[nodiscard]] void* data() const noexcept { return packed_ ? packed_.get() : first_.place; }
  /// Packs block `index` of the buffer to where the collective finds it: for calls in place.
  void take_in(int index) const {
    if (packed_) put(index, block(index));
  }
  /// Puts `block` where the collective finds that of `index`, and copies it from there; both are equally long. They may
  /// be parts of the buffer, too.
  void put(int index, const Block& block) const;
  void get(int index, const Block& block) const;
  /// Puts what the collective has written where it belongs.
  void deliver() const {
    if (packed_) unpack_all();
  }

 private:
  void set_apart();
  void unpack_all() const;
  [[nodiscard]] Block block(int index) const noexcept;
  [[nodiscard]] std::byte* bytes_of(int index) const noexcept;

  Block first_;
  int blocks_;
  MPI_Comm comm_;
  MPI_Aint stride_ = 0;  // from one block in the buffer to the next, in bytes
  std::unique_ptr<std::byte[]> packed_;
};

}  // namespace chorus::preload
