// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"
#include "preload/paths.hpp"

#include <chorus/detail/buffers.hpp>

#include <mpi.h>

#include <cstddef>

// MPI's data types and operations in chorus's words.
namespace chorus::preload {

/// A reduction of `count` elements by a built-in operation. It goes to MPI where MPI defines no such operation on the
/// type, or chorus has none: which all ranks see alike, as they must pass the same type and operation.
[[nodiscard]] Offer offer_reduction(Collective collective, int root, std::ptrdiff_t count, MPI_Datatype type,
                                    MPI_Op op) noexcept;

/// The buffers of a reduction that chorus was offered. In place: `in` and `out` are equal.
[[nodiscard]] inline detail::Buffers operands(const Call& call, const void* in, std::size_t in_count, void* out,
                                              std::size_t out_count) noexcept {
  return {in, out, in_count, out_count, call.type, size_of(call.type)};
}

/// What `count` elements weigh without the gaps between them: the same on all ranks, however each spells its type.
struct Extent {
  bool valid = false;  ///< false where the arguments are wrong
  std::size_t bytes = 0;
};
[[nodiscard]] Extent extent(int count, MPI_Datatype type) noexcept;

/// The blocks of a buffer, one for each of `ranks`, all together. Not valid where arguments are missing, too.
[[nodiscard]] Extent extent(const void* buffer, const int* counts, const int* displacements, MPI_Datatype type,
                            int ranks) noexcept;

/// A collective that only moves data, blocks of `block` each, as bytes.
[[nodiscard]] Offer offer_move(Collective collective, int root, const Extent& block) noexcept;

/// A collective that moves blocks of which each rank knows its own only, so that no rank decides by their lengths.
/// `right`: false where the arguments are wrong.
[[nodiscard]] inline Offer offer_exchange(Collective collective, int root, bool right) noexcept {
  return {.path = right ? Path::chorus : Path::arguments, .call = {.collective = collective, .root = root}};
}

/// True where elements of `type` lie in memory one after the other, in order and without gaps: a basic type.
[[nodiscard]] bool is_plain(MPI_Datatype type) noexcept;

/// True where a buffer is missing that `count` elements need. Types made by the program may contain addresses.
[[nodiscard]] inline bool is_missing(const void* buffer, int count, MPI_Datatype type) noexcept {
  return buffer == nullptr && count > 0 && is_plain(type);
}

}  // namespace chorus::preload
