// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/checkpoint.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chorus {

struct CheckpointManagerOptions {
  std::size_t max_to_keep = 5;  ///< older ones are removed; 0: all are kept
};

/// Keeps the last checkpoints of a computation as `folder`/step-12, `folder`/step-24, ... for one job at a time.
///
///     chorus::CheckpointManager manager(checkpoint, "checkpoints", {.max_to_keep = 3});
///     std::int64_t epoch = manager.restore_latest().value_or(0);
///     while (epoch < 100) {
///       train();
///       manager.save(++epoch);
///     }
///
/// Order    all calls but step_folder are made by all workers, not in a replica. Worker 0 alone looks at the folder.
class CHORUS_API CheckpointManager {
 public:
  CheckpointManager(Checkpoint checkpoint, std::string folder, const CheckpointManagerOptions& options = {});

  /// Saves, then removes what is older than the last `max_to_keep`, and what a job that was killed has left half
  /// written. Returns the folder of the new checkpoint.
  /// Throws   as Checkpoint::save; Error{invalid_argument} where a checkpoint of this or a later step is there, and
  ///          where an older one cannot be removed, after the new one has been saved.
  std::string save(std::int64_t step) const;
  /// Restores the one of the latest step and returns it; none where there is no checkpoint.
  /// Throws   as Checkpoint::restore.
  std::optional<std::int64_t> restore_latest(const RestoreOptions& options = {}) const;
  /// The steps of which there is a checkpoint, in ascending order; none where the folder is not there. What another job
  /// saves or removes meanwhile may be missing.
  /// Throws   on all workers Error{invalid_argument} where the folder cannot be read.
  [[nodiscard]] std::vector<std::int64_t> steps() const;
  /// The folder of the latest one.
  /// Throws   as steps.
  [[nodiscard]] std::optional<std::string> latest() const;
  /// Where the checkpoint of `step` is or would be.
  [[nodiscard]] std::string step_folder(std::int64_t step) const;

 private:
  Checkpoint checkpoint_;
  std::string folder_;
  CheckpointManagerOptions options_;
};

}  // namespace chorus
