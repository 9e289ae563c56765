// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/writer.hpp"

#include "checkpoint/durable_file.hpp"
#include "crc32.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/npy.hpp>

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace chorus {
namespace {

/// With room for a number and the ending within the 255 bytes that a name may have.
constexpr std::size_t longest_file_name = 200;

std::filesystem::path checked(const std::string& folder) {
  std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (!path.has_filename() || path.filename() == "." || path.filename() == "..") {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the folder \"{}\" has no name of its own: give one that is to be made", folder));
  }
  return path;
}

}  // namespace

std::filesystem::path unfinished_folder(const std::filesystem::path& folder) {
  return folder.parent_path() / fmt::format(".{}.unfinished", folder.filename().string());
}

CheckpointWriter::CheckpointWriter(const std::string& folder)
    : folder_(checked(folder)), unfinished_(unfinished_folder(folder_)) {
  std::error_code failure;
  if (std::filesystem::exists(std::filesystem::symlink_status(folder_, failure))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is there already: choose another folder, or remove it", folder_.string()));
  }
  make_folders(folder_.parent_path());
  std::filesystem::remove_all(unfinished_, failure);
  if (!failure) std::filesystem::create_directory(unfinished_, failure);
  if (failure) reject_file(unfinished_, "made", failure.value());
}

CheckpointWriter::~CheckpointWriter() {
  std::error_code ignored;  // what is left is removed by the next one
  if (!committed_) std::filesystem::remove_all(unfinished_, ignored);
}

void CheckpointWriter::add(CheckpointTensor tensor, const TensorRef& value) {
  tensor.file = free_file_name(tensor.name);
  const std::string header = detail::npy_header({value.type, value.order, value.shape});
  DurableFile file(unfinished_ / tensor.file);
  Crc32 checksum;
  for (const auto part : {std::as_bytes(std::span(header)), std::span<const std::byte>(value.data, value.bytes())}) {
    file.write(part);
    checksum.add(part);
    tensor.bytes += part.size();
  }
  file.finish();
  tensor.crc32 = checksum.value();
  tensors_.push_back(std::move(tensor));
}

void CheckpointWriter::commit(CheckpointIndex index) {
  index.tensors = std::move(tensors_);
  const std::string text = detail::checkpoint_index_text(index);
  DurableFile file(unfinished_ / "index.json");
  file.write(std::as_bytes(std::span(text)));
  file.finish();
  sync_folder(unfinished_);
  rename_folder(unfinished_, folder_);
  committed_ = true;
  sync_folder(folder_.has_parent_path() ? folder_.parent_path() : ".");
}

std::string CheckpointWriter::free_file_name(const std::string& name) {
  std::string plain;
  std::string small;
  for (const char letter : name.substr(0, longest_file_name)) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool kept = byte < 0x80 && (std::isalnum(byte) != 0 || letter == '-' || letter == '_');
    plain.push_back(kept ? letter : letter == '/' || (letter == '.' && !plain.empty()) ? '.' : '_');
    small.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(plain.back()))));
  }
  if (plain.front() == '.') plain.front() = small.front() = '_';
  std::string suffix;
  for (int number = 2; !file_names_.insert(small + suffix).second; ++number) suffix = fmt::format("-{}", number);
  return fmt::format("{}{}.npy", plain, suffix);
}

}  // namespace chorus
