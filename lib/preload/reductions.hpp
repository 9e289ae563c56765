// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/paths.hpp"
#include "preload/staging.hpp"

#include <chorus/detail/buffers.hpp>
#include <chorus/detail/operation.hpp>

#include <mpi.h>

#include <cstddef>
#include <memory>

// MPI's reductions in chorus's words. What chorus has no operation for is joined by MPI_Reduce_local, which knows the
// functions of the program too, in every language.
namespace chorus::preload {

/// A reduction of `count` elements. It goes to MPI where MPI defines no such operation on the type, or where elements
/// of a type made by the program reach beyond their extent or begin before it: which all ranks see alike, as they must
/// pass the same type and operation.
[[nodiscard]] Offer offer_reduction(Collective collective, int root, MPI_Count count, MPI_Datatype type,
                                    MPI_Op op) noexcept;

/// The buffers of a reduction that chorus was offered, in the program's memory. In place: `in` and `out` are equal.
[[nodiscard]] inline detail::Buffers operands(const Call& call, const void* in, std::size_t in_count, void* out,
                                              std::size_t out_count) noexcept {
  return {in, out, in_count, out_count, call.type, call.element_bytes()};
}

/// How many elements of an offered call one of `type` is: two for a complex number.
[[nodiscard]] std::size_t elements_of(const Call& call, MPI_Datatype type) noexcept;

/// A reduction that chorus was offered, as its doors take it; while this lives. Elements with gaps are copied, as what
/// lies in the gaps is neither to be sent nor to be written.
class OfferedReduction {
 public:
  /// `buffers`: those of the program.
  OfferedReduction(const Call& call, const detail::Buffers& buffers, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
      : call_(call), buffers_(buffers), type_(type), op_(op), comm_(comm), result_(buffers.out) {
    if (call.type == DataType::opaque || on_device(buffers.in) || on_device(buffers.out) ||
        (buffers.in != buffers.out && overlap(buffers))) {
      stage();
    }
  }
  OfferedReduction(const OfferedReduction&) = delete;
  OfferedReduction& operator=(const OfferedReduction&) = delete;

  [[nodiscard]] const detail::Buffers& buffers() const noexcept { return buffers_; }
  [[nodiscard]] detail::Operation operation() const noexcept {
    if (call_.type != DataType::opaque) return {.op = call_.op, .owner = nullptr};
    return {.commutative = call_.commutes(), .join = join, .function = this, .owner = nullptr};
  }
  /// Puts the result where it belongs; for ranks that get one.
  void deliver() const {
    if (buffers_.out != result_) deliver_staged();
  }

 private:
  [[nodiscard]] static bool overlap(const detail::Buffers& buffers) noexcept {
    return preload::overlap(buffers.in, buffers.in_count * buffers.element_bytes, buffers.out,
                            buffers.out_count * buffers.element_bytes);
  }
  void stage();
  /// In memory of the host, as they lie there, where they are in that of a GPU.
  void stage_bytes();
  void deliver_staged() const;
  static void join(const void* self, std::byte* out, const std::byte* left, const std::byte* right, std::size_t count);
  void join_some(std::byte* out, const std::byte* left, const std::byte* right, std::size_t count) const;

  const Call& call_;
  detail::Buffers buffers_;
  MPI_Datatype type_;
  MPI_Op op_;
  MPI_Comm comm_;
  void* result_;              // in the program's memory
  bool bytes_alone_ = false;  // were staged: nothing is to be packed
  std::unique_ptr<std::byte[]> in_;
  std::unique_ptr<std::byte[]> out_;
};

}  // namespace chorus::preload
