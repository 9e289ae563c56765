// SPDX-License-Identifier: Apache-2.0
// index.json: an object with the format's name and version, the step, how many workers and replicas have saved, and a
// list of the tensors. Its own checksum is that of its text without "crc32", the keys sorted and no blanks between.
#include <chorus/error.hpp>
#include <chorus/strategies/checkpoint_index.hpp>

#include "crc32.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using Json = nlohmann::json;

constexpr const char* format_name = "chorus checkpoint";
constexpr std::int64_t format_version = 1;
/// Longer ones are no index: some 10^6 tensors have place in it.
constexpr std::uintmax_t longest_index = std::uintmax_t{1} << 28U;
constexpr std::size_t most_dimensions = 64;

/// What is read, and its name for messages.
class Document {
 public:
  explicit Document(const std::string& name) : name_(name) {}

  [[noreturn]] void reject(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("read_checkpoint_index: {} {}: restore another checkpoint", name_, why));
  }
  [[nodiscard]] const Json& at(const Json& object, const char* key, const std::string& where) const {
    if (!object.is_object()) reject(fmt::format("is damaged: {} is no object", where));
    const auto found = object.find(key);
    if (found == object.end()) reject(fmt::format("is damaged: {} has no \"{}\"", where, key));
    return *found;
  }
  [[nodiscard]] std::uint64_t number(const Json& object, const char* key, const std::string& where,
                                     std::uint64_t most = std::numeric_limits<std::int64_t>::max()) const {
    return number(at(object, key, where), fmt::format("\"{}\" of {}", key, where), most);
  }
  [[nodiscard]] std::uint64_t number(const Json& value, const std::string& what, std::uint64_t most) const {
    // What is negative is not unsigned to the parser, and what is too long for it a floating-point number.
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return value.get<std::uint64_t>();
    reject(fmt::format("is damaged: {} must be a whole number from 0 to {}", what, most));
  }
  [[nodiscard]] const std::string& text(const Json& object, const char* key, const std::string& where) const {
    const Json& value = at(object, key, where);
    if (!value.is_string()) reject(fmt::format("is damaged: \"{}\" of {} is no text", key, where));
    return value.get_ref<const std::string&>();
  }
  /// One of `words`.
  [[nodiscard]] const std::string& word(const Json& object, const char* key, const std::string& where,
                                        std::initializer_list<std::string_view> words) const {
    const std::string& found = text(object, key, where);
    if (std::ranges::find(words, found) != words.end()) return found;
    reject(fmt::format("is damaged: \"{}\" of {} is \"{}\", which is not known", key, where, found.substr(0, 40)));
  }
  [[nodiscard]] std::uint32_t checksum(const Json& object, const std::string& where) const {
    const std::string& digits = text(object, "crc32", where);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error == std::errc() && end == digits.data() + digits.size() && digits == fmt::format("{:08x}", value)) {
      return value;
    }
    reject(fmt::format("is damaged: \"crc32\" of {} must be 8 hexadecimal digits", where));
  }

 private:
  const std::string& name_;
};

DataType type_in(const Document& document, const Json& tensor, const std::string& where) {
  const std::string& text = document.text(tensor, "type", where);
  for (int number = 0; number < data_type_count; ++number) {
    const auto type = static_cast<DataType>(number);
    if (type != DataType::opaque && name(type) == text) return type;
  }
  document.reject(fmt::format("is damaged: the type \"{}\" of {} is not known", text.substr(0, 40), where));
}

Shape shape_in(const Document& document, const Json& tensor, const std::string& where) {
  const Json& lengths = document.at(tensor, "shape", where);
  if (!lengths.is_array() || lengths.size() > most_dimensions) {
    document.reject(fmt::format("is damaged: \"shape\" of {} is no list of lengths", where));
  }
  Shape shape;
  std::size_t elements = 1;
  for (const Json& length : lengths) {
    const std::size_t most = std::numeric_limits<std::uint32_t>::max() * std::size_t{1U << 16U} / elements;
    shape.push_back(document.number(length, fmt::format("a length in \"shape\" of {}", where), most));
    elements *= std::max<std::size_t>(shape.back(), 1);
  }
  return shape;
}

/// A file in the folder itself, as the writer names them.
std::string file_in(const Document& document, const Json& tensor, const std::string& where) {
  const std::string& file = document.text(tensor, "file", where);
  const bool plain =
      file.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == std::string::npos;
  if (plain && file.size() <= 255 && file.ends_with(".npy") && !file.starts_with('.')) return file;
  document.reject(fmt::format("is damaged: \"file\" of {} is no name of a .npy file in the folder", where));
}

CheckpointTensor tensor_in(const Document& document, const Json& tensor, std::size_t number) {
  const std::string where = fmt::format("tensor {}", number);
  CheckpointTensor read;
  read.name = document.text(tensor, "name", where);
  if (read.name.empty()) document.reject(fmt::format("is damaged: the name of {} is empty", where));
  read.type = type_in(document, tensor, where);
  read.shape = shape_in(document, tensor, where);
  read.synchronization = document.word(tensor, "synchronization", where, {"none", "on_write", "on_read"});
  read.aggregation = document.word(tensor, "aggregation", where, {"none", "sum", "mean", "only_first_replica"});
  read.file = file_in(document, tensor, where);
  read.bytes = document.number(tensor, "bytes", where);
  read.crc32 = document.checksum(tensor, where);
  return read;
}

void check_different(const Document& document, const CheckpointIndex& index) {
  for (const auto member : {&CheckpointTensor::name, &CheckpointTensor::file}) {
    std::vector<std::string> all;
    for (const CheckpointTensor& tensor : index.tensors) all.push_back(tensor.*member);
    std::ranges::sort(all);
    const auto twice = std::ranges::adjacent_find(all);
    if (twice != all.end()) document.reject(fmt::format("is damaged: it names \"{}\" twice", twice->substr(0, 40)));
  }
}

Json json_of(const CheckpointIndex& index) {
  Json tensors = Json::array();
  for (const CheckpointTensor& tensor : index.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"type", name(tensor.type)},
                       {"shape", tensor.shape},
                       {"synchronization", tensor.synchronization},
                       {"aggregation", tensor.aggregation},
                       {"file", tensor.file},
                       {"bytes", tensor.bytes},
                       {"crc32", fmt::format("{:08x}", tensor.crc32)}});
  }
  return {{"format", format_name},    {"version", format_version},  {"step", index.step},
          {"workers", index.workers}, {"replicas", index.replicas}, {"tensors", std::move(tensors)}};
}

std::string dumped(const Json& document, int indentation) {
  try {
    return document.dump(indentation);
  } catch (const Json::exception& /*error*/) {
    throw Error(ErrorCode::invalid_argument, "the name of an entry is not in UTF-8: give names that are");
  }
}

}  // namespace

namespace detail {

CheckpointIndex parse_checkpoint_index(std::string_view text, const std::string& name, std::uint32_t* checksum) {
  const Document document(name);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) document.reject("is damaged: it is no JSON");
  const std::string where = "the index";
  if (document.text(json, "format", where) != format_name) document.reject("is no index of a checkpoint");
  const std::uint64_t version = document.number(json, "version", where);
  if (version != format_version) {
    document.reject(
        fmt::format("has version {} of the format, and only version {} is known here", version, format_version));
  }
  constexpr std::uint64_t most = std::numeric_limits<int>::max();
  CheckpointIndex index;
  index.step = static_cast<std::int64_t>(document.number(json, "step", where));
  index.workers = static_cast<int>(document.number(json, "workers", where, most));
  index.replicas = static_cast<int>(document.number(json, "replicas", where, most));
  const Json& tensors = document.at(json, "tensors", where);
  if (!tensors.is_array()) document.reject("is damaged: \"tensors\" is no list");
  for (const Json& tensor : tensors) index.tensors.push_back(tensor_in(document, tensor, index.tensors.size()));
  check_different(document, index);
  const std::uint32_t says = document.checksum(json, where);
  if (checksum != nullptr) *checksum = says;
  return index;
}

std::uint32_t checkpoint_index_checksum(const CheckpointIndex& index) {
  const std::string text = dumped(json_of(index), -1);
  Crc32 checksum;
  checksum.add(std::as_bytes(std::span(text)));
  return checksum.value();
}

std::string checkpoint_index_text(const CheckpointIndex& index) {
  Json json = json_of(index);
  json["crc32"] = fmt::format("{:08x}", checkpoint_index_checksum(index));
  return dumped(json, 1) + "\n";
}

}  // namespace detail

CheckpointIndex read_checkpoint_index(const std::string& folder) {
  const std::string name = (std::filesystem::path(folder) / "index.json").string();
  const Document document(name);
  std::ifstream stream(name, std::ios::binary);
  if (!stream) document.reject(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(name, failure);
  if (failure) document.reject(fmt::format("cannot be read: {}", failure.message()));
  if (bytes > longest_index) document.reject(fmt::format("is damaged: it has {} bytes", bytes));
  std::string text(bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  if (static_cast<std::uintmax_t>(stream.gcount()) != bytes) document.reject("cannot be read to its end");
  std::uint32_t says = 0;
  CheckpointIndex index = detail::parse_checkpoint_index(text, name, &says);
  const std::uint32_t is = detail::checkpoint_index_checksum(index);
  if (is != says) {
    document.reject(fmt::format("is damaged: its checksum is {:08x}, and it says {:08x}", is, says));
  }
  return index;
}

}  // namespace chorus
