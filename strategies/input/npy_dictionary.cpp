// SPDX-License-Identifier: Apache-2.0
#include "input/npy_dictionary.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace chorus::detail {
namespace {

/// The dictionary, from the left to the right.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : left_(text), name_(name) {}

  [[nodiscard]] bool takes(char wanted) {
    pass_blanks();
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!takes(wanted)) reject(std::string("expected ") + wanted);
  }
  [[nodiscard]] bool ended() {
    pass_blanks();
    return left_.empty();
  }
  std::string_view string() {
    const char quote = takes('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = left_.find(quote);
    if (end == std::string_view::npos) reject("a string has no end");
    const std::string_view text = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    pass_blanks();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (!left_.starts_with(word)) continue;
      left_.remove_prefix(word.size());
      return value;
    }
    reject("expected True or False");
  }
  std::size_t number() {
    pass_blanks();
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc()) reject("expected a length");
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }
  [[noreturn]] void reject(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument, "read_npy: " + name_ + " has a header that is not understood: " + why +
                                                 " before \"" + std::string(left_.substr(0, 20)) +
                                                 "\": save the array by numpy.save");
  }

 private:
  void pass_blanks() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t\n"), left_.size())); }

  std::string_view left_;
  const std::string& name_;
};

/// How NumPy spells the types; where it has several spellings, the first one is written.
constexpr std::pair<std::string_view, DataType> types[] = {
    {"|b1", DataType::boolean},   {"|i1", DataType::int8},       {"<i2", DataType::int16},
    {"<i4", DataType::int32},     {"<i8", DataType::int64},      {"|u1", DataType::uint8},
    {"<u2", DataType::uint16},    {"<u4", DataType::uint32},     {"<u8", DataType::uint64},
    {"<f2", DataType::float16},   {"|V2", DataType::bfloat16},   {"<V2", DataType::bfloat16},
    {"<f4", DataType::float32},   {"<f8", DataType::float64},    {"<f16", DataType::long_double},
    {"<c8", DataType::complex64}, {"<c16", DataType::complex128}};

DataType type_of(std::string_view descr, const std::string& name) {
  for (const auto& [spelled, type] : types) {
    if (spelled == descr) return type;
  }
  throw Error(ErrorCode::invalid_argument, "read_npy: " + name + " holds elements of type '" +
                                               std::string(descr.substr(0, 20)) +
                                               "', which are no little-endian numbers: save it by array.astype('<f8') "
                                               "or another such type");
}

Shape read_shape(Reader& reader) {
  Shape shape;
  reader.expect('(');
  while (!reader.takes(')')) {
    shape.push_back(reader.number());
    if (reader.takes(',')) continue;
    reader.expect(')');
    break;
  }
  return shape;
}

}  // namespace

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name) {
  Reader reader(text, name);
  NpyHeader header;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  reader.expect('{');
  while (!reader.takes('}')) {
    const std::string_view key = reader.string();
    reader.expect(':');
    if (key == "descr" && !std::exchange(has_type, true))
      header.type = type_of(reader.string(), name);
    else if (key == "fortran_order" && !std::exchange(has_order, true))
      header.order = reader.boolean() ? StorageOrder::column_major : StorageOrder::row_major;
    else if (key == "shape" && !std::exchange(has_shape, true))
      header.shape = read_shape(reader);
    else
      reader.reject("the key '" + std::string(key.substr(0, 20)) + "' is unknown, or comes twice,");
    if (reader.takes(',')) continue;
    reader.expect('}');
    break;
  }
  if (!has_type || !has_order || !has_shape) reader.reject("descr, fortran_order or shape is not there");
  if (!reader.ended()) reader.reject("something is left");
  return header;
}

std::string npy_dictionary(const NpyHeader& header) {
  const auto* const spelled = std::ranges::find(types, header.type, [](const auto& each) { return each.second; });
  if (spelled == std::end(types)) {
    throw Error(ErrorCode::invalid_argument,
                "write_npy: elements that are no numbers have no type in NumPy: give an array of numbers");
  }
  std::string text = "{'descr': '";
  text.append(spelled->first).append("', 'fortran_order': ");
  text.append(header.order == StorageOrder::column_major ? "True" : "False").append(", 'shape': (");
  for (const std::size_t length : header.shape) text.append(std::to_string(length)).append(", ");
  if (header.shape.size() > 1) text.resize(text.size() - 2);
  if (header.shape.size() == 1) text.pop_back();
  return text.append("), }");
}

}  // namespace chorus::detail
