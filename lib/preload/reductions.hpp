// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/paths.hpp"

#include <chorus/detail/buffers.hpp>
#include <chorus/detail/operation.hpp>

#include <mpi.h>

#include <cstddef>

// MPI's reductions in chorus's words. What chorus has no operation for is joined by MPI_Reduce_local, which knows the
// functions of the program too, in every language.
namespace chorus::preload {

/// A reduction of `count` elements. It goes to MPI where MPI defines no such operation on the type, or where elements
/// of a type made by the program have gaps between or inside them: which all ranks see alike, as they must pass the
/// same type and operation.
[[nodiscard]] Offer offer_reduction(Collective collective, int root, MPI_Count count, MPI_Datatype type,
                                    MPI_Op op) noexcept;

/// The buffers of a reduction that chorus was offered. In place: `in` and `out` are equal.
[[nodiscard]] inline detail::Buffers operands(const Call& call, const void* in, std::size_t in_count, void* out,
                                              std::size_t out_count) noexcept {
  return {in, out, in_count, out_count, call.type, call.element_bytes()};
}

/// How many elements of an offered call one of `type` is: two for a complex number.
[[nodiscard]] std::size_t elements_of(const Call& call, MPI_Datatype type) noexcept;

/// The operation of a reduction that chorus was offered, for as long as this lives.
class Joining {
 public:
  Joining(const Call& call, MPI_Datatype type, MPI_Op op) noexcept : call_(call), type_(type), op_(op) {}
  [[nodiscard]] detail::Operation operation() const noexcept;

 private:
  static void join(const void* self, std::byte* out, const std::byte* left, const std::byte* right, std::size_t count);
  void join_some(std::byte* out, const std::byte* left, const std::byte* right, std::size_t count) const;

  const Call& call_;
  MPI_Datatype type_;
  MPI_Op op_;
};

}  // namespace chorus::preload
