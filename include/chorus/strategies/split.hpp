// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/values.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace chorus {

/// How many of a batch's `rows` each of `replicas` gets: equal shares, and one more for the first rows % replicas.
/// Throws   Error{invalid_argument} where there is no replica.
[[nodiscard]] CHORUS_API std::vector<std::size_t> split_batch(std::size_t rows, int replicas);

/// The same in proportion to `weights`, one for each replica: what is left after rounding down goes to the replicas
/// whose shares lost most by it, the first of them where they lost the same.
/// Throws   Error{invalid_argument} where a weight is below 0 or not finite, or all are 0.
[[nodiscard]] CHORUS_API std::vector<std::size_t> split_batch(std::size_t rows, std::span<const double> weights);

/// The lengths of the batches that layout.worker cuts its data into, in turn and from the beginning again after the
/// last, layout.local_replicas of them in each step: split_batch(global_rows, layout.replicas()), rotated so that in
/// each step the lengths of all workers together make global_rows.
[[nodiscard]] CHORUS_API std::vector<std::size_t> batch_sizes(std::size_t global_rows, const ReplicaLayout& layout);

/// Cuts `rows` into slices of rows / replicas rounded up; the later ones are shorter, or empty. This is what
/// tf.distribute does with batches of unknown length, and with those of AutoShardPolicy::data.
[[nodiscard]] CHORUS_API std::vector<std::size_t> legacy_split(std::size_t rows, int replicas);

/// Every `workers`-th of `files`, from number `worker` on.
/// Throws   Error{invalid_argument} where there are fewer files than workers, or `worker` is none of them.
[[nodiscard]] CHORUS_API std::vector<std::string> shard_files(const std::vector<std::string>& files, int workers,
                                                              int worker);

}  // namespace chorus
