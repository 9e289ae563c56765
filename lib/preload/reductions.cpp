// SPDX-License-Identifier: Apache-2.0
#include "preload/reductions.hpp"

#include "kernels/kernels.hpp"
#include "preload/handles.hpp"
#include "preload/staging.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

namespace chorus::preload {
namespace {

constexpr std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;  // that of the buffers that MPI itself makes

std::optional<ReduceOp> known_op(MPI_Op op) noexcept {
  if (op == MPI_SUM) return ReduceOp::sum;
  if (op == MPI_MAX) return ReduceOp::max;
  if (op == MPI_MIN) return ReduceOp::min;
  if (op == MPI_PROD) return ReduceOp::product;
  if (op == MPI_LAND) return ReduceOp::logical_and;
  if (op == MPI_LOR) return ReduceOp::logical_or;
  if (op == MPI_LXOR) return ReduceOp::logical_xor;
  if (op == MPI_BAND) return ReduceOp::bitwise_and;
  if (op == MPI_BOR) return ReduceOp::bitwise_or;
  if (op == MPI_BXOR) return ReduceOp::bitwise_xor;
  return std::nullopt;
}

/// True where MPI defines `op` on types of `kind`.
bool defined(Kind kind, ReduceOp op) noexcept {
  const bool logical = op >= ReduceOp::logical_and && op <= ReduceOp::logical_xor;
  const bool bitwise = op >= ReduceOp::bitwise_and;
  switch (kind) {
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      return true;
    case Kind::floating:
      return !logical && !bitwise;
    case Kind::complex:
      return op == ReduceOp::sum || op == ReduceOp::product;
    case Kind::boolean:
    case Kind::fortran_logical:
      return logical;
    case Kind::bits:
      return bitwise;
    case Kind::opaque:
      return false;
  }
  return false;
}

std::optional<DataType> integer_of(std::size_t bytes, bool has_sign) noexcept {
  switch (bytes) {
    case 1:
      return has_sign ? DataType::int8 : DataType::uint8;
    case 2:
      return has_sign ? DataType::int16 : DataType::uint16;
    case 4:
      return has_sign ? DataType::int32 : DataType::uint32;
    case 8:
      return has_sign ? DataType::int64 : DataType::uint64;
    default:
      return std::nullopt;
  }
}

std::optional<DataType> floating_of(std::size_t bytes) noexcept {
  if (bytes == sizeof(float)) return DataType::float32;
  if (bytes == sizeof(double)) return DataType::float64;
  if (bytes == sizeof(long double)) return DataType::long_double;
  return std::nullopt;
}

/// The type of chorus that `op` on `type` is carried out with, of which an element has one, or two where it is complex.
std::optional<DataType> reduced_as(const KnownType& type, ReduceOp op) noexcept {
  switch (type.kind) {
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      return integer_of(type.bytes, type.kind == Kind::signed_integer);
    case Kind::floating:
      return floating_of(type.bytes);
    case Kind::complex:  // their product is none of the real and imaginary parts
      return op == ReduceOp::sum ? floating_of(type.bytes / 2) : std::nullopt;
    case Kind::boolean:
      return type.bytes == 1 ? std::optional(DataType::boolean) : std::nullopt;
    case Kind::bits:
      return DataType::uint8;
    case Kind::fortran_logical:
    case Kind::opaque:
      return std::nullopt;
  }
  return std::nullopt;
}

/// A value and its place, for MPI_MINLOC and MPI_MAXLOC.
bool is_pair(MPI_Datatype type) noexcept {
  const MPI_Datatype pairs[] = {MPI_2INT,     MPI_FLOAT_INT,         MPI_DOUBLE_INT,
                                MPI_LONG_INT, MPI_SHORT_INT,         MPI_LONG_DOUBLE_INT,
                                MPI_2REAL,    MPI_2DOUBLE_PRECISION, MPI_2INTEGER};
  return std::ranges::find(pairs, type) != std::end(pairs);
}

/// The bytes from one element to the next; 0 where elements reach beyond them, so that one cannot be moved by itself.
std::size_t stride_of(MPI_Datatype type) noexcept {
  if (const KnownType* const own = known_type(type)) return own->bytes;
  MPI_Aint begin = 0;
  MPI_Aint stride = 0;
  MPI_Aint data_begin = 0;
  MPI_Aint data_length = 0;
  PMPI_Type_get_extent(type, &begin, &stride);
  PMPI_Type_get_true_extent(type, &data_begin, &data_length);
  const bool inside = begin == 0 && data_begin >= 0 && data_begin + data_length <= stride;
  return inside && stride <= UINT32_MAX ? static_cast<std::size_t>(stride) : 0;
}

/// Without their gaps.
void copy_elements(const void* from, void* to, std::size_t count, MPI_Datatype type, MPI_Comm comm) {
  const auto elements = static_cast<MPI_Count>(count);
  const Block source = block_of(from, elements, type);
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(source.bytes());
  pack(source, packed.get(), comm);
  unpack(packed.get(), {to, elements, source.type}, comm);
}

/// `count` elements of the program as they lie there, but for their gaps.
std::unique_ptr<std::byte[]> copy_of(const void* place, std::size_t count, MPI_Datatype type, MPI_Comm comm) {
  auto copy = std::make_unique<std::byte[]>(count * stride_of(type));
  copy_elements(place, copy.get(), count, type, comm);
  return copy;
}

/// With the operation as a function of the caller's, which is MPI_Reduce_local.
void join_by_mpi(Offer& offer, MPI_Count count, std::size_t element_bytes, bool commutes) noexcept {
  offer.path = element_bytes > 0 ? Path::chorus : Path::data_type;
  offer.call.type = DataType::opaque;
  offer.call.op = commutes ? commutative_function : ordered_function;
  offer.call.count = static_cast<std::size_t>(count);
  offer.call.opaque_bytes = static_cast<std::uint32_t>(element_bytes);
}

void join_by_known_op(Offer& offer, MPI_Count count, MPI_Datatype type, ReduceOp op) noexcept {
  const KnownType* const own = known_type(type);
  offer.path = Path::data_type;
  if (own == nullptr || !defined(own->kind, op)) return;
  const std::optional<DataType> own_type = reduced_as(*own, op);
  if (!own_type || !kernels::supports(*own_type, op)) return join_by_mpi(offer, count, own->bytes, true);
  offer.path = Path::chorus;
  offer.call.type = *own_type;
  offer.call.op = op;
  offer.call.count = static_cast<std::size_t>(count) * (own->kind == Kind::complex ? 2 : 1);
  offer.lasting = true;
}

/// Some elements in memory of their own; while this lives.
class Piece {
 public:
  static constexpr std::size_t usual_bytes = 4096;

  Piece(const std::byte* from, std::size_t bytes) {
    if (bytes > usual_bytes) long_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::memcpy(data(), from, bytes);
  }
  [[nodiscard]] std::byte* data() noexcept { return long_ ? long_.get() : usual_; }

 private:
  alignas(alignment) std::byte usual_[usual_bytes];  // NOLINT(*member-init*): copied to
  std::unique_ptr<std::byte[]> long_;
};

bool is_aligned(const std::byte* place, std::size_t element_bytes) noexcept {
  const std::size_t needed = std::min(alignment, element_bytes & (~element_bytes + 1));
  return reinterpret_cast<std::uintptr_t>(place) % needed == 0;
}

}  // namespace

Offer offer_reduction(Collective collective, int root, MPI_Count count, MPI_Datatype type, MPI_Op op) noexcept {
  Offer offer{.path = Path::arguments, .call = {.collective = collective, .root = root}};
  if (count < 0 || type == MPI_DATATYPE_NULL || op == MPI_OP_NULL) return offer;
  int commutes = 0;
  if (const std::optional<ReduceOp> own_op = known_op(op)) {
    join_by_known_op(offer, count, type, *own_op);
  } else if (op == MPI_MINLOC || op == MPI_MAXLOC) {
    join_by_mpi(offer, count, is_pair(type) ? stride_of(type) : 0, true);
  } else if (op != MPI_REPLACE && op != MPI_NO_OP && PMPI_Op_commutative(op, &commutes) == MPI_SUCCESS) {
    join_by_mpi(offer, count, stride_of(type), commutes != 0);  // MPI_REPLACE and MPI_NO_OP are no reductions
  }
  return offer;
}

std::size_t elements_of(const Call& call, MPI_Datatype type) noexcept {
  return call.type == DataType::opaque ? 1 : extent(1, type).bytes / size_of(call.type);
}

void OfferedReduction::stage() {
  const bool in_place = buffers_.in == buffers_.out;
  const bool has_gaps = call_.type == DataType::opaque && extent(1, type_).bytes != call_.opaque_bytes;
  if (!has_gaps || is_pair(type_)) {  // a pair is a struct of C, whose gaps hold nothing
    const bool elsewhere = on_device(buffers_.in) || on_device(buffers_.out);
    if (elsewhere) return stage_bytes();
    if (in_place || !overlap(buffers_)) return;
    const std::size_t in_bytes = buffers_.in_count * buffers_.element_bytes;
    in_ = std::make_unique_for_overwrite<std::byte[]>(in_bytes);
    std::memcpy(in_.get(), buffers_.in, in_bytes);
    buffers_.in = in_.get();
    return;
  }
  in_ = copy_of(buffers_.in, buffers_.in_count, type_, comm_);
  if (!in_place) out_ = std::make_unique<std::byte[]>(buffers_.out_count * call_.opaque_bytes);
  buffers_.in = in_.get();
  buffers_.out = out_ ? out_.get() : in_.get();
}

void OfferedReduction::stage_bytes() {
  const bool in_place = buffers_.in == buffers_.out;
  const std::size_t in_bytes = buffers_.in_count * buffers_.element_bytes;
  in_ = std::make_unique_for_overwrite<std::byte[]>(in_bytes);
  copy_anywhere(in_.get(), buffers_.in, in_bytes);
  if (!in_place) out_ = std::make_unique_for_overwrite<std::byte[]>(buffers_.out_count * buffers_.element_bytes);
  buffers_.in = in_.get();
  buffers_.out = out_ ? out_.get() : in_.get();
  bytes_alone_ = true;
}

void OfferedReduction::deliver_staged() const {
  if (bytes_alone_) return copy_anywhere(result_, buffers_.out, buffers_.out_count * buffers_.element_bytes);
  copy_elements(buffers_.out, result_, buffers_.out_count, type_, comm_);
}

/// Some elements at a time.
void OfferedReduction::join(const void* self, std::byte* out, const std::byte* left, const std::byte* right,
                            std::size_t count) {
  const auto& reduction = *static_cast<const OfferedReduction*>(self);
  const std::size_t element_bytes = reduction.call_.element_bytes();
  const std::size_t most = std::max<std::size_t>(1, Piece::usual_bytes / element_bytes);
  for (std::size_t done = 0; done < count; done += most) {
    const std::size_t offset = done * element_bytes;
    reduction.join_some(out + offset, left + offset, right + offset, std::min(most, count - done));
  }
}

/// `left` is copied, as functions of programs write to it, too; `right` where it is not `out`, or does not lie as
/// elements of the program do.
void OfferedReduction::join_some(std::byte* out, const std::byte* left, const std::byte* right,
                                 std::size_t count) const {
  const std::size_t element_bytes = call_.element_bytes();
  const std::size_t bytes = count * element_bytes;
  Piece first(left, bytes);
  const auto join_to = [&](std::byte* result) {
    check(PMPI_Reduce_local(first.data(), result, static_cast<int>(count), type_, op_));
  };
  if (out == right && is_aligned(out, element_bytes)) return join_to(out);
  Piece result(right, bytes);
  join_to(result.data());
  std::memcpy(out, result.data(), bytes);
}

}  // namespace chorus::preload
