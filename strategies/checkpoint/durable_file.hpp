// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace chorus {

/// A new file that is on the disk, not in memory alone, once it is finished.
/// Throws   Error{invalid_argument}, which names the file, the reason and a remedy, where the system refuses.
class DurableFile {
 public:
  explicit DurableFile(std::filesystem::path path);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  void write(std::span<const std::byte> bytes);
  void finish();

 private:
  std::filesystem::path path_;
  int descriptor_;
};

/// Makes `folder` and what is missing on the way to it, so that it outlasts a loss of power.
void make_folders(const std::filesystem::path& folder);
/// Makes what has been created, renamed or removed in `folder` outlast a loss of power.
void sync_folder(const std::filesystem::path& folder);
/// Renames a folder: at any time there is the one or the other.
void rename_folder(const std::filesystem::path& from, const std::filesystem::path& to);

/// Throws   Error{invalid_argument}: `path` cannot be `done`, "written" for example, for the reason `number`, an errno.
[[noreturn]] void reject_file(const std::filesystem::path& path, const char* done, int number);

}  // namespace chorus
