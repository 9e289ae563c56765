// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/detail/input_workers.hpp>
#include <chorus/strategies/detail/stage.hpp>
#include <chorus/strategies/detail/step_agreement.hpp>
#include <chorus/strategies/input_options.hpp>
#include <chorus/strategies/values.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace chorus::detail {

/// Which slices of a batch a worker's replicas get: all, one after the other, or their own alone.
struct Slices {
  int replicas = 1;
  std::vector<double> weights = {};
  std::vector<std::size_t> own = {};  ///< their numbers
  bool sees_all = false;              ///< the slices that are left out are other workers' in the same step

  [[nodiscard]] CHORUS_API std::vector<std::size_t> sizes(std::size_t rows) const;
  [[nodiscard]] CHORUS_API std::vector<RowRange> cut(std::size_t rows) const;
};

/// How a worker makes its batches of a dataset of batches.
struct Division {
  Start shards = {};
  /// The lengths of its batches, in turn, cut from the rows of all batches in a row; empty: the slices of each batch.
  std::vector<std::size_t> sizes = {};
  Slices slices = {};
  LocalPlan plan = {};
  bool may_lack_rows = false;  ///< some of the plan's steps, which are left out: the batches' lengths are not known
  /// The rows of each of its batches, where they never vary.
  std::optional<std::size_t> batch_rows = {};
};

/// Throws   Error{invalid_argument} where the layout and the workers do not fit together.
CHORUS_API void check_layout(const ReplicaLayout& layout, const InputWorkers& workers);
/// Throws   Error{invalid_argument} where the options contradict each other or do not suit the layout.
CHORUS_API void check_options(const ReplicaLayout& layout, const InputOptions& options);

/// The division of a dataset that all workers describe alike; worker 0 warns where nothing was said about it.
/// Throws   Error{invalid_argument} where the dataset is not batched, or cannot be divided as the options say;
///          Error{not_supported} where they say what this dataset cannot have.
[[nodiscard]] CHORUS_API Division divide(const PipelineFacts& facts, const ReplicaLayout& layout,
                                         const InputOptions& options);

/// The plan of a worker whose replicas take the batches of `datasets` as they come: one dataset, in turn, or one each.
/// Throws   Error{not_supported} where the options tell how to divide batches.
[[nodiscard]] CHORUS_API Division keep_whole(const std::vector<PipelineFacts>& datasets, const ReplicaLayout& layout,
                                             const InputOptions& options);

}  // namespace chorus::detail
