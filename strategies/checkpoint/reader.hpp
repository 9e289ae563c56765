// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/checkpoint.hpp>
#include <chorus/strategies/leaf.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chorus {

/// A checkpoint that has been read, its values staged in the items and nothing restored yet.
struct StagedCheckpoint {
  std::int64_t step = 0;
  std::vector<std::optional<TensorRef>> values;  ///< of each item; none where the checkpoint does not have it
};

/// Reads the checkpoint in `folder`.
/// Throws   Error{invalid_argument}, which names everything that is missing, superfluous, different or damaged.
[[nodiscard]] StagedCheckpoint stage_checkpoint(const std::string& folder, const detail::CheckpointItems& items,
                                                const RestoreOptions& options);

}  // namespace chorus
