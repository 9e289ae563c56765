// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/leaf.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>

namespace chorus {

/// What the header of a NumPy file says, in versions 1, 2 and 3 of the format.
struct NpyHeader {
  DataType type = DataType::float64;
  StorageOrder order = StorageOrder::row_major;
  Shape shape = {};
};

/// Reads the header at the beginning of `stream`, which stands at the elements then; `name` is for messages.
/// Throws   Error{invalid_argument} where it is not the header of an array of little-endian numbers, or the stream has
///          fewer elements than it says; one that cannot seek, such as a pipe, is found short when they are read.
[[nodiscard]] CHORUS_API NpyHeader read_npy_header(std::istream& stream, const std::string& name);

namespace detail {
/// Opens `file`. Throws Error{invalid_argument} where that cannot be done.
CHORUS_API std::unique_ptr<std::istream> open_binary(const std::string& file);
/// Throws   Error{invalid_argument} unless the header is that of an array of `type` with `rank` dimensions.
CHORUS_API void check_npy(const NpyHeader& header, DataType type, std::size_t rank, const std::string& name);
/// The elements, brought into the order of `to`, which has the shape of the header.
CHORUS_API void read_npy_elements(std::istream& stream, const NpyHeader& header, const TensorRef& to,
                                  const std::string& name);
/// What a file begins with: its elements follow.
[[nodiscard]] CHORUS_API std::string npy_header(const NpyHeader& header);
CHORUS_API void write_npy(std::ostream& stream, const TensorRef& tensor, const std::string& name);
/// Opens `file`, empty. Throws Error{invalid_argument} where that cannot be done.
CHORUS_API std::unique_ptr<std::ostream> create_binary(const std::string& file);
}  // namespace detail

/// The array in a NumPy file: a Tensor, a std::vector where Rank is 1, a number where it is 0. NumPy's booleans are
/// read as std::uint8_t, and its two-byte voids ('V2') as bfloat16_t, as which they are saved.
///
/// Shapes   the file holds elements of type T in `Rank` dimensions, in either order of storage.
/// Throws   Error{invalid_argument}, which names the file and what it holds, where it does not, or cannot be read.
template <Number T, int Rank>
requires(Rank >= 0 && !std::same_as<T, bool>)
    [[nodiscard]] auto read_npy(std::istream& stream, const std::string& name) {
  const NpyHeader header = read_npy_header(stream, name);
  detail::check_npy(header, data_type_of<T>(), Rank, name);
  using Array = typename detail::TensorOf<T, Rank>::Type;
  Array array = LeafTraits<Array>::make(header.shape);
  detail::read_npy_elements(stream, header, tensor_ref(array), name);
  return array;
}
template <Number T, int Rank>
requires(Rank >= 0 && !std::same_as<T, bool>) [[nodiscard]] auto read_npy(const std::string& file) {
  return read_npy<T, Rank>(*detail::open_binary(file), file);
}

/// Writes `array` as a NumPy file, version 1 of the format, in its own order of storage: what read_npy and numpy.load
/// read.
///
/// Throws   Error{invalid_argument}, which names the file, where it cannot be written.
template <Leaf T>
void write_npy(std::ostream& stream, const T& array, const std::string& name) {
  detail::write_npy(stream, tensor_ref(const_cast<T&>(array)), name);
}
template <Leaf T>
void write_npy(const std::string& file, const T& array) {
  write_npy(*detail::create_binary(file), array, file);
}

}  // namespace chorus
