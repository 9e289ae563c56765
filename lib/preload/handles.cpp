// SPDX-License-Identifier: Apache-2.0
#include "preload/handles.hpp"

#include <array>
#include <climits>
#include <cstdint>
#include <cstring>

namespace chorus::preload {
namespace {

struct NamedType {
  MPI_Datatype handle;
  Kind kind;
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
    {MPI_LOGICAL, Kind::fortran_logical},
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

}  // namespace

const KnownType* known_type(MPI_Datatype handle) noexcept {
  static KnownTypes types;
  return handle == MPI_DATATYPE_NULL ? nullptr : types.find(handle);
}

Type look_up(MPI_Datatype handle) noexcept {
  if (const KnownType* const known = known_type(handle)) return {handle, known->bytes, true};
  MPI_Count bytes = 0;
  if (handle == MPI_DATATYPE_NULL || PMPI_Type_size_x(handle, &bytes) != MPI_SUCCESS || bytes < 0) return {};
  return {handle, static_cast<std::size_t>(bytes), false};
}

Extent extent(MPI_Count count, MPI_Datatype type) noexcept {
  const Type element = count < 0 ? Type() : type_of(type);
  if (!element.valid) return {};
  return {.valid = true, .bytes = static_cast<std::size_t>(count) * element.bytes, .lasting = element.plain};
}

Offer offer_move(Collective collective, int root, const Extent& block) noexcept {
  Offer offer{.path = Path::arguments, .call = {.collective = collective, .root = root}};
  if (!block.valid) return offer;
  offer.call.count = block.bytes;
  offer.lasting = block.lasting;
  offer.path = block.bytes > INT_MAX ? Path::length : Path::chorus;  // MPI packs no more at a time
  return offer;
}

}  // namespace chorus::preload
