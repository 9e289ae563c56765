// SPDX-License-Identifier: Apache-2.0
// NumPy's format, as its documentation describes it (numpy.lib.format): the eight bytes "\x93NUMPY", major and minor
// version; the length of the header in 2 bytes (version 1) or 4, little-endian; the header, a literal of a Python
// dictionary with the keys 'descr', 'fortran_order' and 'shape'; the elements.
#include <chorus/error.hpp>
#include <chorus/strategies/batch.hpp>
#include <chorus/strategies/npy.hpp>

#include "input/npy_dictionary.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <istream>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {
namespace {

static_assert(std::endian::native == std::endian::little, "the elements of a file are copied as they are");

/// Longer ones are no headers of arrays of numbers.
constexpr std::size_t longest_header = std::size_t{1} << 20U;

[[noreturn]] void reject_array(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "read_npy: " + name + " " + why);
}

std::string read_bytes(std::istream& stream, std::size_t count, const std::string& name) {
  std::string bytes(count, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(count));
  if (static_cast<std::size_t>(stream.gcount()) != count) reject_array(name, "ends within its header: save it again");
  return bytes;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// The bytes from where `stream` stands to its end; none where it cannot tell, as a pipe.
std::optional<std::size_t> bytes_left(std::istream& stream) {
  const auto here = stream.tellg();
  if (here < 0) {
    stream.clear();
    return std::nullopt;
  }
  stream.seekg(0, std::ios::end);
  const auto end = stream.tellg();
  stream.seekg(here);
  return end < here ? 0 : static_cast<std::size_t>(end - here);
}

void check_length(std::istream& stream, const NpyHeader& header, const std::string& name) {
  std::size_t bytes = size_of(header.type);
  for (const std::size_t length : header.shape) {
    if (length == 0) return;
  }
  for (const std::size_t length : header.shape) {
    if (bytes > std::numeric_limits<std::size_t>::max() / length)
      reject_array(name, "is too long, with the shape " + to_string(header.shape) + ": save it again");
    bytes *= length;
  }
  const std::optional<std::size_t> left = bytes_left(stream);
  if (!left || *left >= bytes) return;
  reject_array(name, "has " + std::to_string(*left) + " bytes after its header, and should have " +
                         std::to_string(bytes) + " for the shape " + to_string(header.shape) +
                         ": it was cut off, save it again");
}

const char* spelling(DataType type) {
  constexpr const char* names[data_type_count] = {
      "bool",    "int8",     "int16",   "int32",   "int64",      "uint8",     "uint16",     "uint32", "uint64",
      "float16", "bfloat16", "float32", "float64", "longdouble", "complex64", "complex128", "void"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace

NpyHeader read_npy_header(std::istream& stream, const std::string& name) {
  using namespace std::string_view_literals;
  constexpr std::string_view magic = "\x93NUMPY"sv;
  std::string start(magic.size() + 2, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (!stream || !start.starts_with(magic)) reject_array(name, "is no .npy file: save the array by numpy.save");
  const int version = static_cast<unsigned char>(start[magic.size()]);
  if (version < 1 || version > 3)
    reject_array(
        name, "has version " + std::to_string(version) + " of the format, and 1 to 3 are known: save it by numpy.save");
  const std::size_t length = little_endian(read_bytes(stream, version == 1 ? 2 : 4, name));
  if (length > longest_header)
    reject_array(name, "has a header of " + std::to_string(length) + " bytes: save it again");
  const NpyHeader header = detail::parse_npy_dictionary(read_bytes(stream, length, name), name);
  check_length(stream, header, name);
  return header;
}

namespace detail {

std::unique_ptr<std::istream> open_binary(const std::string& file) {
  auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
  if (!*stream)
    throw Error(ErrorCode::invalid_argument, "read_npy: cannot open " + file + ": " + std::strerror(errno) +
                                                 ": give a file that this worker can read");
  return stream;
}

void check_npy(const NpyHeader& header, DataType type, std::size_t rank, const std::string& name) {
  const bool boolean = header.type == DataType::boolean && type == DataType::uint8;
  if (header.type != type && !boolean) {
    reject_array(name, std::string("holds ") + spelling(header.type) + ", not " + spelling(type) +
                           ": read it as that type, or save it by array.astype");
  }
  if (header.shape.size() == rank) return;
  reject_array(name, "has the shape " + to_string(header.shape) + ": read it with " +
                         std::to_string(header.shape.size()) + " dimensions, not " + std::to_string(rank));
}

void read_npy_elements(std::istream& stream, const NpyHeader& header, const TensorRef& to, const std::string& name) {
  const auto read = [&](std::byte* into) {
    stream.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(to.bytes()));
    if (static_cast<std::size_t>(stream.gcount()) != to.bytes())
      reject_array(name, "cannot be read to its end: save it again");
  };
  if (to.bytes() == 0) return;
  if (header.order == to.order || to.shape.size() < 2) return read(to.data);
  std::vector<std::byte> other_order(to.bytes());
  read(other_order.data());
  const TensorRef from{to.type, header.order, to.shape, other_order.data()};
  gather_rows(from, numbers(0, to.shape.front()), to, 0);
}

std::string npy_header(const NpyHeader& header) {
  constexpr std::size_t before = 10;     // the magic, the version and the length
  constexpr std::size_t alignment = 64;  // where the elements begin, as numpy.save has it
  constexpr std::size_t longest_of_version_1 = 65535;
  std::string dictionary = npy_dictionary(header);
  dictionary.append(alignment - (before + dictionary.size() + 1) % alignment, ' ').push_back('\n');
  if (dictionary.size() > longest_of_version_1) {
    throw Error(ErrorCode::invalid_argument, "write_npy: " + std::to_string(header.shape.size()) +
                                                 " dimensions are more than a file can have: give less");
  }
  std::string bytes = "\x93NUMPY\x01";
  bytes.push_back('\0');
  for (const std::size_t shift : {0U, 8U}) bytes.push_back(static_cast<char>(dictionary.size() >> shift & 0xFFU));
  return bytes.append(dictionary);
}

void write_npy(std::ostream& stream, const TensorRef& tensor, const std::string& name) {
  const std::string header = npy_header({tensor.type, tensor.order, tensor.shape});
  stream.write(header.data(), static_cast<std::streamsize>(header.size()));
  stream.write(reinterpret_cast<const char*>(tensor.data), static_cast<std::streamsize>(tensor.bytes()));
  if (stream.flush()) return;
  throw Error(ErrorCode::invalid_argument,
              "write_npy: " + name + " cannot be written: see that it may be, and that there is room for it");
}

std::unique_ptr<std::ostream> create_binary(const std::string& file) {
  auto stream = std::make_unique<std::ofstream>(file, std::ios::binary | std::ios::trunc);
  if (!*stream) {
    throw Error(ErrorCode::invalid_argument, "write_npy: cannot write " + file + ": " + std::strerror(errno) +
                                                 ": give a file in a folder that this worker can write to");
  }
  return stream;
}

}  // namespace detail

}  // namespace chorus
