// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/checkpoint_index.hpp>
#include <chorus/strategies/leaf.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace chorus {

/// Where a checkpoint is written before it gets its name: what begins with a dot and ends so is no checkpoint.
[[nodiscard]] std::filesystem::path unfinished_folder(const std::filesystem::path& folder);

/// Writes a checkpoint beside its folder, and gives it its name when all of it is on the disk.
/// Throws   Error{invalid_argument}, see DurableFile.
class CheckpointWriter {
 public:
  /// Throws   also where the folder is there already, or has no name.
  explicit CheckpointWriter(const std::string& folder);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  /// Removes what has been written, unless it has been committed.
  ~CheckpointWriter();

  /// Writes the file of `tensor`, which knows everything but its file.
  void add(CheckpointTensor tensor, const TensorRef& value);
  /// `index` knows everything but its tensors.
  void commit(CheckpointIndex index);

 private:
  [[nodiscard]] std::string free_file_name(const std::string& name);

  std::filesystem::path folder_;
  std::filesystem::path unfinished_;
  std::set<std::string> file_names_;  // without capitals, which some file systems do not tell apart
  std::vector<CheckpointTensor> tensors_;
  bool committed_ = false;
};

}  // namespace chorus
