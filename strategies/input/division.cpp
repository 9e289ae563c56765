// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/detail/division.hpp>
#include <chorus/strategies/split.hpp>

#include "input/warnings.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace chorus::detail {
namespace {

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "DistributedDataset: " + why);
}

/// What AutoShardPolicy::automatic stands for, and whether the policy can be carried out.
AutoShardPolicy resolved(const PipelineFacts& facts, const ReplicaLayout& layout, const InputOptions& options) {
  AutoShardPolicy policy = options.shard_policy;
  if (layout.workers == 1 && policy != AutoShardPolicy::data) return AutoShardPolicy::off;
  if (policy == AutoShardPolicy::automatic && !facts.files) {
    warn(options, layout,
         "the dataset reads no files, so every worker reads all of it and keeps its part: choose AutoShardPolicy::data "
         "to say that this is meant, or AutoShardPolicy::off to give all data to every worker");
    return AutoShardPolicy::data;
  }
  if (policy == AutoShardPolicy::automatic) policy = AutoShardPolicy::file;
  if (policy == AutoShardPolicy::file && !facts.files) {
    reject("AutoShardPolicy::file, but the dataset reads no files: choose AutoShardPolicy::data or off");
  }
  if (policy == AutoShardPolicy::file && *facts.files < static_cast<std::size_t>(layout.workers)) {
    reject("AutoShardPolicy::file, but there are fewer files than workers, " + std::to_string(*facts.files) + " < " +
           std::to_string(layout.workers) +
           ": divide the data into more files, or choose AutoShardPolicy::data or AutoShardPolicy::off");
  }
  if (policy == AutoShardPolicy::hint && !facts.has_hint) {
    warn(options, layout,
         "AutoShardPolicy::hint, but the dataset has no ShardHint, so every worker gets all data: call "
         "shard(ShardHint{}) where they are to be divided");
    return AutoShardPolicy::off;
  }
  return policy;
}

std::size_t sum_of_first(const std::vector<std::size_t>& sizes, int count) {
  return std::accumulate(sizes.begin(), sizes.begin() + count, std::size_t{0});
}

std::vector<std::size_t> lengths_in_turn(std::size_t rows, const ReplicaLayout& layout, const InputOptions& options) {
  if (options.replica_weights.empty()) return batch_sizes(rows, layout);
  const std::vector<std::size_t> all = split_batch(rows, options.replica_weights);
  const auto own = all.begin() + layout.first_replica();
  return {own, own + layout.local_replicas};
}

/// For the policies that end where a replica has no rows.
void check_every_replica_has_rows(const std::vector<std::size_t>& full, std::size_t rows, const InputOptions& options) {
  if (options.uneven == UnevenPolicy::pad || std::ranges::find(full, std::size_t{0}) == full.end()) return;
  reject("of a batch of " + std::to_string(rows) + " rows for " + std::to_string(full.size()) +
         " replicas some get no rows: make the batches longer, or choose UnevenPolicy::pad");
}

/// The rows of all batches in a row, cut into lengths that change in turn.
void divide_stream(Division& division, const PipelineFacts& facts, const ReplicaLayout& layout,
                   const InputOptions& options) {
  const BatchFacts batch = *facts.batch;
  const auto workers = static_cast<std::size_t>(layout.workers);
  const bool weighted = !options.replica_weights.empty();
  check_every_replica_has_rows(
      weighted ? split_batch(*batch.rows, options.replica_weights) : split_batch(*batch.rows, layout.replicas()),
      *batch.rows, options);
  division.sizes = lengths_in_turn(*batch.rows, layout, options);
  if (std::ranges::count(division.sizes, std::size_t{0}) == std::ssize(division.sizes)) {
    reject("the replica_weights leave no row of a batch of " + std::to_string(*batch.rows) + " to worker " +
           std::to_string(layout.worker) + ": raise them, or make the batches longer");
  }
  division.plan.full_rows = batch.rows;
  const bool all_full = facts.cardinality.is_infinite() || batch.short_batches == ShortBatches::none;
  if (all_full) division.plan.rows = sum_of_first(division.sizes, layout.local_replicas);
  if (all_full && std::ranges::adjacent_find(division.sizes, std::not_equal_to<>()) == division.sizes.end()) {
    division.batch_rows = division.sizes.front();
  }
  // With fewer rows than replicas a worker may come to its end a few empty batches before another.
  const bool even = all_full && !weighted && std::ranges::find(division.sizes, std::size_t{0}) == division.sizes.end();
  const bool counted = workers == 1 ? batch.short_batches != ShortBatches::some : even;
  if (facts.cardinality.is_infinite() || counted) {
    division.plan.steps = facts.cardinality.changed([&](std::size_t batches) { return batches * workers; });
  }
}

/// The slices of each batch.
void divide_batches(Division& division, const PipelineFacts& facts, const ReplicaLayout& layout,
                    const InputOptions& options) {
  Slices& slices = division.slices;
  const auto workers = static_cast<std::size_t>(layout.workers);
  const auto local = static_cast<std::size_t>(layout.local_replicas);
  slices.replicas = layout.replicas();
  slices.weights = options.replica_weights;
  const bool needs_rows = !slices.weights.empty() || options.uneven == UnevenPolicy::drop;
  if (needs_rows && workers > 1 && !slices.sees_all) {
    throw Error(
        ErrorCode::not_supported,
        "DistributedDataset: replica_weights or UnevenPolicy::drop, but the length of the batches is not known: "
        "call with_batch_size, or choose AutoShardPolicy::data");
  }
  for (std::size_t i = 0; i < (slices.sees_all ? local : local * workers); ++i) {
    const bool in_turn = slices.sees_all && slices.weights.empty();
    const std::size_t before = slices.sees_all ? static_cast<std::size_t>(layout.first_replica()) : 0;
    slices.own.push_back(in_turn ? i * workers + static_cast<std::size_t>(layout.worker) : before + i);
  }
  const std::size_t steps_a_batch = slices.sees_all ? 1 : workers;
  division.plan.steps = facts.cardinality.changed([&](std::size_t batches) { return batches * steps_a_batch; });
  division.plan.sees_all = slices.sees_all;
  const BatchFacts batch = *facts.batch;
  division.may_lack_rows = !batch.rows && !facts.cardinality.is_infinite();
  if (!batch.rows) return;
  const std::vector<std::size_t> full = slices.sizes(*batch.rows);
  check_every_replica_has_rows(full, *batch.rows, options);
  division.plan.full_rows = batch.rows;
  if (batch.short_batches == ShortBatches::none &&
      std::ranges::adjacent_find(full, std::not_equal_to<>()) == full.end()) {
    division.batch_rows = full.front();
  }
}

/// What must be the same on all workers whatever their data.
PlanSettings settings_of(const InputOptions& options) {
  std::uint64_t weights = 0;
  for (const double weight : options.replica_weights) weights = mixed(weights, std::bit_cast<std::uint64_t>(weight));
  return {{0, static_cast<std::int64_t>(options.uneven), static_cast<std::int64_t>(options.replication_mode),
           static_cast<std::int64_t>(weights), 0, 0}};
}

/// The same of a dataset that is divided by `policy`. The rows of its batches may differ where they are not known.
PlanSettings settings_of(const InputOptions& options, AutoShardPolicy policy, const PipelineFacts& facts) {
  PlanSettings settings = settings_of(options);
  settings.numbers[0] = static_cast<std::int64_t>(policy);
  settings.numbers[PlanSettings::rows] = static_cast<std::int64_t>(facts.batch->rows.value_or(0));
  if (policy == AutoShardPolicy::data) settings.numbers[5] = static_cast<std::int64_t>(facts.order);
  return settings;
}

}  // namespace

std::vector<std::size_t> Slices::sizes(std::size_t rows) const {
  return weights.empty() ? legacy_split(rows, replicas) : split_batch(rows, weights);
}

std::vector<RowRange> Slices::cut(std::size_t rows) const {
  const std::vector<std::size_t> all = sizes(rows);
  std::vector<std::size_t> starts(all.size());
  std::exclusive_scan(all.begin(), all.end(), starts.begin(), std::size_t{0});
  std::vector<RowRange> ranges;
  for (const std::size_t slice : own) ranges.push_back({starts[slice], all[slice]});
  return ranges;
}

void check_layout(const ReplicaLayout& layout, const InputWorkers& workers) {
  if (layout.workers < 1 || layout.worker < 0 || layout.worker >= layout.workers || layout.local_replicas < 1) {
    reject("worker " + std::to_string(layout.worker) + " of " + std::to_string(layout.workers) + " with " +
           std::to_string(layout.local_replicas) + " replicas: give one from 0 to workers - 1 with 1 or more");
  }
  if (workers.alone() && layout.workers > 1) {
    reject("there are " + std::to_string(layout.workers) + " workers and no communicator: give one of the workers");
  }
  if (workers.size() != layout.workers || workers.rank() != layout.worker) {
    reject("worker " + std::to_string(layout.worker) + " of " + std::to_string(layout.workers) + " is rank " +
           std::to_string(workers.rank()) + " of " + std::to_string(workers.size()) +
           " in the communicator: give one of the workers, in their order");
  }
}

void check_options(const ReplicaLayout& layout, const InputOptions& options) {
  if (options.place_dataset_on_device &&
      (options.replication_mode != InputReplicationMode::per_replica || options.fetch_to_device)) {
    reject("place_dataset_on_device wants InputReplicationMode::per_replica, and fetch_to_device false");
  }
  const std::size_t weights = options.replica_weights.size();
  if (weights != 0 && weights != static_cast<std::size_t>(layout.replicas())) {
    reject(std::to_string(weights) + " replica_weights for " + std::to_string(layout.replicas()) +
           " replicas: give one for each");
  }
}

Division divide(const PipelineFacts& facts, const ReplicaLayout& layout, const InputOptions& options) {
  if (options.replication_mode == InputReplicationMode::per_replica) {
    throw Error(ErrorCode::not_supported,
                "DistributedDataset: InputReplicationMode::per_replica is for datasets that a function makes: use "
                "from_function");
  }
  if (!facts.batch) {
    reject(
        "the dataset is not batched: call batch(rows) with the rows of all replicas together, or with_batch_size "
        "where its elements are batches");
  }
  const AutoShardPolicy policy = resolved(facts, layout, options);
  Division division;
  const Shard own{static_cast<std::size_t>(layout.workers), static_cast<std::size_t>(layout.worker)};
  PipelineFacts sharded = facts;
  if (policy == AutoShardPolicy::file) division.shards.files = own;
  if (policy == AutoShardPolicy::hint) division.shards.hint = own;
  if (policy == AutoShardPolicy::hint || policy == AutoShardPolicy::file) {
    sharded.cardinality = facts.cardinality.is_infinite() ? facts.cardinality : Cardinality::unknown();
    if (sharded.batch->short_batches == ShortBatches::one) sharded.batch->short_batches = ShortBatches::some;
  }
  division.slices.sees_all = policy == AutoShardPolicy::data;
  division.plan.may_fail = facts.may_fail || policy == AutoShardPolicy::hint;  // as a worker may get no shard
  division.plan.settings = settings_of(options, policy, facts);
  if (facts.batch->rows && policy != AutoShardPolicy::data)
    divide_stream(division, sharded, layout, options);
  else
    divide_batches(division, sharded, layout, options);
  return division;
}

Division keep_whole(const std::vector<PipelineFacts>& datasets, const ReplicaLayout& layout,
                    const InputOptions& options) {
  if (!options.replica_weights.empty()) {
    throw Error(ErrorCode::not_supported,
                "DistributedDataset::from_function: replica_weights, but its batches are not divided: let the function "
                "make batches of the lengths wanted");
  }
  Division division;
  division.plan.settings = settings_of(options);
  const std::size_t in_turn = datasets.size() == 1 ? static_cast<std::size_t>(layout.local_replicas) : 1;
  const auto steps = [in_turn](std::size_t batches) { return batches / in_turn + (batches % in_turn == 0 ? 0 : 1); };
  bool even = true;
  std::size_t rows = 0;
  division.plan.steps = datasets.front().cardinality.changed(steps);
  for (const PipelineFacts& facts : datasets) {
    division.plan.may_fail = division.plan.may_fail || facts.may_fail;
    const std::optional<std::size_t> count = facts.cardinality.count();
    const bool full = facts.batch && facts.batch->rows && facts.batch->short_batches == ShortBatches::none;
    even = even && full && facts.cardinality == datasets.front().cardinality && (!count || *count % in_turn == 0);
    if (full) rows += *facts.batch->rows * in_turn;
    if (facts.cardinality != datasets.front().cardinality) division.plan.steps = Cardinality::unknown();
  }
  if (!even) return division;
  division.plan.rows = rows;
  const std::optional<std::size_t> first = datasets.front().batch->rows;
  const auto as_first = [first](const PipelineFacts& facts) { return facts.batch->rows == first; };
  if (std::ranges::all_of(datasets, as_first)) division.batch_rows = first;
  return division;
}

}  // namespace chorus::detail
