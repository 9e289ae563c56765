// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/shape.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// A tensor in a checkpoint.
struct CheckpointTensor {
  std::string name = {};
  DataType type = DataType::float64;
  Shape shape = {};
  std::string synchronization = {};  ///< "on_write" or "on_read", as the variable was; "none" of a plain value
  std::string aggregation = {};      ///< "none", "sum", "mean" or "only_first_replica"
  std::string file = {};             ///< a .npy file in the checkpoint's folder
  std::uint64_t bytes = 0;           ///< its length
  std::uint32_t crc32 = 0;           ///< its checksum, that of zlib
  bool operator==(const CheckpointTensor&) const = default;
};

/// What a checkpoint's index.json says.
struct CheckpointIndex {
  std::int64_t step = 0;
  int workers = 1;   ///< that have saved it
  int replicas = 1;  ///< of all of them
  std::vector<CheckpointTensor> tensors = {};
  bool operator==(const CheckpointIndex&) const = default;
};

/// The index of the checkpoint in `folder`, its files unread: what is in it. Not collective.
/// Throws   Error{invalid_argument} where there is none, it is damaged, or of a version that is not known.
[[nodiscard]] CHORUS_API CheckpointIndex read_checkpoint_index(const std::string& folder);

namespace detail {
/// What the text of an index says; `name` is for messages. Whether it is whole is another matter: `checksum`, where it
/// is not null, gets what it says of itself.
[[nodiscard]] CHORUS_API CheckpointIndex parse_checkpoint_index(std::string_view text, const std::string& name,
                                                                std::uint32_t* checksum);
/// The text of an index, and what its checksum is.
[[nodiscard]] CHORUS_API std::string checkpoint_index_text(const CheckpointIndex& index);
[[nodiscard]] CHORUS_API std::uint32_t checkpoint_index_checksum(const CheckpointIndex& index);
}  // namespace detail

}  // namespace chorus
