// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/durable_file.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace chorus {
namespace {

const char* remedy(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room there, or choose a folder that has more";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that this user may write to";
    case ENOTDIR:
      return "choose a folder whose path has no file in it";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return "choose another folder";
  }
}

}  // namespace

void reject_file(const std::filesystem::path& path, const char* done, int number) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} cannot be {}: {}: {}", path.string(), done, std::strerror(number), remedy(number)));
}

DurableFile::DurableFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) reject_file(path_, "written", errno);
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DurableFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) reject_file(path_, "written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void DurableFile::finish() {
  if (::fsync(descriptor_) != 0) reject_file(path_, "written", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) reject_file(path_, "written", errno);
}

void make_folders(const std::filesystem::path& folder) {
  std::error_code failure;
  if (folder.empty() || std::filesystem::exists(folder, failure)) return;
  make_folders(folder.parent_path());
  std::filesystem::create_directory(folder, failure);
  if (failure) reject_file(folder, "made", failure.value());
  sync_folder(folder.has_parent_path() ? folder.parent_path() : ".");
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) reject_file(folder, "opened", errno);
  // Some file systems have no such call for folders, and need none.
  const int failure = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
  ::close(descriptor);
  if (failure != 0) reject_file(folder, "written", failure);
}

void rename_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) reject_file(to, "made", errno);
}

}  // namespace chorus
