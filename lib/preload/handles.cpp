// SPDX-License-Identifier: Apache-2.0
#include "preload/handles.hpp"

#include "kernels/kernels.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>

namespace chorus::preload {
namespace {

/// What MPI allows to be done with a type.
enum class Kind : std::uint8_t { signed_integer, unsigned_integer, floating, complex, boolean, bits, opaque };

struct NamedType {
  MPI_Datatype handle;
  Kind kind;
};

struct KnownType {
  Kind kind = Kind::opaque;
  std::size_t bytes = 0;
};

const NamedType named_types[] = {
    {MPI_SHORT, Kind::signed_integer},
    {MPI_INT, Kind::signed_integer},
    {MPI_LONG, Kind::signed_integer},
    {MPI_LONG_LONG, Kind::signed_integer},
    {MPI_SIGNED_CHAR, Kind::signed_integer},
    {MPI_INT8_T, Kind::signed_integer},
    {MPI_INT16_T, Kind::signed_integer},
    {MPI_INT32_T, Kind::signed_integer},
    {MPI_INT64_T, Kind::signed_integer},
    {MPI_AINT, Kind::signed_integer},
    {MPI_OFFSET, Kind::signed_integer},
    {MPI_COUNT, Kind::signed_integer},
    {MPI_INTEGER, Kind::signed_integer},
    {MPI_INTEGER1, Kind::signed_integer},
    {MPI_INTEGER2, Kind::signed_integer},
    {MPI_INTEGER4, Kind::signed_integer},
    {MPI_INTEGER8, Kind::signed_integer},
    {MPI_UNSIGNED_CHAR, Kind::unsigned_integer},
    {MPI_UNSIGNED_SHORT, Kind::unsigned_integer},
    {MPI_UNSIGNED, Kind::unsigned_integer},
    {MPI_UNSIGNED_LONG, Kind::unsigned_integer},
    {MPI_UNSIGNED_LONG_LONG, Kind::unsigned_integer},
    {MPI_UINT8_T, Kind::unsigned_integer},
    {MPI_UINT16_T, Kind::unsigned_integer},
    {MPI_UINT32_T, Kind::unsigned_integer},
    {MPI_UINT64_T, Kind::unsigned_integer},
    {MPI_FLOAT, Kind::floating},
    {MPI_DOUBLE, Kind::floating},
    {MPI_LONG_DOUBLE, Kind::floating},
    {MPI_REAL, Kind::floating},
    {MPI_DOUBLE_PRECISION, Kind::floating},
    {MPI_REAL4, Kind::floating},
    {MPI_REAL8, Kind::floating},
    {MPI_C_FLOAT_COMPLEX, Kind::complex},
    {MPI_C_DOUBLE_COMPLEX, Kind::complex},
    {MPI_C_LONG_DOUBLE_COMPLEX, Kind::complex},
    {MPI_COMPLEX, Kind::complex},
    {MPI_DOUBLE_COMPLEX, Kind::complex},
    {MPI_COMPLEX8, Kind::complex},
    {MPI_COMPLEX16, Kind::complex},
    {MPI_C_BOOL, Kind::boolean},
    {MPI_BYTE, Kind::bits},
    {MPI_CHAR, Kind::opaque},
    {MPI_WCHAR, Kind::opaque},
    {MPI_CHARACTER, Kind::opaque},
    {MPI_LOGICAL, Kind::opaque},
    {MPI_PACKED, Kind::opaque},
};

/// The types above by their handles, in a hash table: it is asked at every call.
class KnownTypes {
 public:
  KnownTypes() {
    for (const NamedType& type : named_types) {
      int bytes = 0;
      if (type.handle == MPI_DATATYPE_NULL || PMPI_Type_size(type.handle, &bytes) != MPI_SUCCESS || bytes <= 0)
        continue;
      Entry& entry = place_of(type.handle);
      entry = {type.handle, {type.kind, static_cast<std::size_t>(bytes)}};
    }
  }

  [[nodiscard]] const KnownType* find(MPI_Datatype handle) noexcept {
    const Entry& entry = place_of(handle);
    return entry.handle == handle ? &entry.type : nullptr;
  }

 private:
  struct Entry {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    KnownType type;
  };
  static constexpr std::size_t places = 256;
  static_assert(places > 2 * std::size(named_types));

  /// That of `handle`, or the free one where it would be.
  [[nodiscard]] Entry& place_of(MPI_Datatype handle) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &handle, sizeof handle);
    std::size_t place = bits * 0x9E3779B97F4A7C15U >> 56U;
    while (entries_[place].handle != MPI_DATATYPE_NULL && entries_[place].handle != handle)
      place = (place + 1) % places;
    return entries_[place];
  }

  std::array<Entry, places> entries_;
};

const KnownType* known_type(MPI_Datatype handle) noexcept {
  static KnownTypes types;
  return handle == MPI_DATATYPE_NULL ? nullptr : types.find(handle);
}

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
      return op == ReduceOp::sum;  // the product is no operation on the real and imaginary parts
    case Kind::boolean:
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

/// The type of chorus, of which an element of `type` has one, or two where it is complex.
std::optional<DataType> reduced_as(const KnownType& type) noexcept {
  switch (type.kind) {
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      return integer_of(type.bytes, type.kind == Kind::signed_integer);
    case Kind::floating:
      return floating_of(type.bytes);
    case Kind::complex:
      return floating_of(type.bytes / 2);
    case Kind::boolean:
      return type.bytes == 1 ? std::optional(DataType::boolean) : std::nullopt;
    case Kind::bits:
      return DataType::uint8;
    case Kind::opaque:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Offer offer_reduction(Collective collective, int root, std::ptrdiff_t count, MPI_Datatype type, MPI_Op op) noexcept {
  Offer offer{.path = Path::arguments, .call = {.collective = collective, .root = root}};
  if (count < 0 || type == MPI_DATATYPE_NULL || op == MPI_OP_NULL) return offer;
  const std::optional<ReduceOp> own_op = known_op(op);
  const KnownType* const own = known_type(type);
  const std::optional<DataType> own_type = own != nullptr ? reduced_as(*own) : std::nullopt;
  offer.path = !own_op ? Path::operation : Path::data_type;
  if (!own_op || !own_type) return offer;
  if (!defined(own->kind, *own_op) || !kernels::supports(*own_type, *own_op)) return offer;
  offer.path = Path::chorus;
  offer.call.type = *own_type;
  offer.call.op = *own_op;
  offer.call.count = static_cast<std::size_t>(count) * (own->kind == Kind::complex ? 2 : 1);
  return offer;
}

Extent extent(int count, MPI_Datatype type) noexcept {
  if (count < 0 || type == MPI_DATATYPE_NULL) return {};
  if (const KnownType* const own = known_type(type)) {
    return {true, static_cast<std::size_t>(count) * own->bytes};
  }
  MPI_Count bytes = 0;
  if (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0) return {};
  return {true, static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes)};
}

Extent extent(const void* buffer, const int* counts, const int* displacements, MPI_Datatype type, int ranks) noexcept {
  const Extent element = extent(1, type);
  if (!element.valid || counts == nullptr || displacements == nullptr) return {};
  Extent all{.valid = true};
  for (int rank = 0; rank < ranks; ++rank) {
    if (counts[rank] < 0 || is_missing(buffer, counts[rank], type)) return {};
    all.bytes += static_cast<std::size_t>(counts[rank]) * element.bytes;
  }
  return all;
}

Offer offer_move(Collective collective, int root, const Extent& block) noexcept {
  Offer offer{.path = Path::arguments, .call = {.collective = collective, .root = root}};
  if (!block.valid) return offer;
  offer.call.count = block.bytes;
  offer.path = block.bytes > INT_MAX ? Path::length : Path::chorus;  // MPI packs no more at a time
  return offer;
}

bool is_plain(MPI_Datatype type) noexcept { return known_type(type) != nullptr; }

}  // namespace chorus::preload
