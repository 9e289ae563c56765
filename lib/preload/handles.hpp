// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/paths.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>

// MPI's data types in chorus's words.
namespace chorus::preload {

/// What MPI allows to be done with a basic type.
enum class Kind : std::uint8_t {
  signed_integer,
  unsigned_integer,
  floating,
  complex,
  boolean,
  fortran_logical,
  bits,
  opaque
};

struct KnownType {
  Kind kind = Kind::opaque;
  std::size_t bytes = 0;
};

/// A basic type, whose elements lie in memory one after the other without gaps; null for other types.
[[nodiscard]] const KnownType* known_type(MPI_Datatype handle) noexcept;

/// A data type as a call names it, looked up once.
struct Type {
  constexpr Type() = default;
  constexpr Type(MPI_Datatype named, std::size_t element_bytes, bool basic) noexcept
      : handle(named), bytes(element_bytes), valid(true), plain(basic) {}

  MPI_Datatype handle{};
  std::size_t bytes = 0;  ///< of an element, without the gaps
  bool valid = false;     ///< false where it is none
  bool plain = false;     ///< one of those above
};
[[nodiscard]] Type look_up(MPI_Datatype handle) noexcept;
/// The basic type that this thread has looked up last, as programs repeat their types.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Type last_type;
[[nodiscard]] inline Type type_of(MPI_Datatype handle) noexcept {
  if (last_type.handle != handle || !last_type.valid) {
    const Type found = look_up(handle);
    if (!found.plain) return found;
    last_type = found;
  }
  return last_type;
}

/// True where a buffer is missing that `count` elements need: also where MPI_IN_PLACE stands for it. Types made by the
/// program may contain addresses.
[[nodiscard]] inline bool is_missing(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
  return count > 0 && (buffer == MPI_IN_PLACE || (buffer == nullptr && type_of(type).plain));
}

/// False where the input of a reduction is missing: MPI_IN_PLACE says that it is where the result will be.
[[nodiscard]] inline bool has_input(const void* in, MPI_Count count, MPI_Datatype type) noexcept {
  return in == MPI_IN_PLACE || !is_missing(in, count, type);
}

/// True where a block is missing that begins `bytes` behind `buffer`, which may be MPI_BOTTOM, a null pointer.
[[nodiscard]] inline bool is_missing(const void* buffer, MPI_Aint bytes, MPI_Count count, MPI_Datatype type) noexcept {
  const void* const place = static_cast<const std::byte*>(buffer) + bytes;
  return is_missing(buffer == MPI_IN_PLACE ? buffer : place, count, type);
}

/// What `count` elements weigh without the gaps between them: the same on all ranks, however each spells its type.
struct Extent {
  bool valid = false;  ///< false where the arguments are wrong
  std::size_t bytes = 0;
  bool lasting = false;  ///< of a basic type, whose handle is never freed
};
[[nodiscard]] Extent extent(MPI_Count count, MPI_Datatype type) noexcept;

/// A collective that only moves data, blocks of `block` each, as bytes.
[[nodiscard]] Offer offer_move(Collective collective, int root, const Extent& block) noexcept;

/// A collective that moves blocks of which each rank knows its own only, so that no rank decides by their lengths.
/// `right`: false where the arguments are wrong.
[[nodiscard]] inline Offer offer_exchange(Collective collective, int root, bool right) noexcept {
  return {.path = right ? Path::chorus : Path::arguments, .call = {.collective = collective, .root = root}};
}

}  // namespace chorus::preload
