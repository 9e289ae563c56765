// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/values.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// Which part of the data a function that makes a dataset is asked for.
struct InputContext {
  int num_input_pipelines = 1;  ///< how many times the function is called in the whole job: once on each worker
  int input_pipeline_id = 0;    ///< the number of this call among them
  int num_replicas_in_sync = 1;

  /// The share of each replica in a batch of `global_batch_size` rows.
  /// Throws   Error{invalid_argument} where the replicas do not divide it.
  [[nodiscard]] CHORUS_API std::size_t per_replica_batch_size(std::size_t global_batch_size) const;
  bool operator==(const InputContext&) const = default;
};

/// `context` as text, for messages.
[[nodiscard]] CHORUS_API std::string to_string(const InputContext& context);

/// For which replica a value is made.
struct ValueContext {
  int replica_id_in_sync_group = 0;
  int num_replicas_in_sync = 1;
  bool operator==(const ValueContext&) const = default;
};

/// function(ValueContext) for each of this worker's replicas.
template <class Function>
[[nodiscard]] auto values_from_function(const ReplicaLayout& layout, const Function& function) {
  using T = std::remove_cvref_t<decltype(function(ValueContext()))>;
  std::vector<T> values;
  for (int replica = 0; replica < layout.local_replicas; ++replica) {
    values.push_back(function(ValueContext{layout.first_replica() + replica, layout.replicas()}));
  }
  return PerReplica<T>(layout, std::move(values));
}

/// Whether a function that makes a dataset is called once on each worker, whose replicas take its batches in turn, or
/// for each replica.
enum class InputReplicationMode : std::uint8_t { per_worker, per_replica };

/// Which part of a dataset a worker reads.
enum class AutoShardPolicy : std::uint8_t {
  automatic,  ///< `file` where the dataset reads files, otherwise `data`, with one warning
  off,        ///< all of it: the workers see the same data
  data,       ///< its replicas' slices of every batch; batches of rows of arrays are made of these alone. The slices
              ///< are the same for any number of workers with as many replicas together, for one worker, too
  file,       ///< every num_workers-th of its files
  hint        ///< what each ShardHint in it lets pass
};

/// What happens where some replicas have data left and others do not.
enum class UnevenPolicy : std::uint8_t {
  pad,       ///< those without get batches without rows, until all are at their end
  drop,      ///< the data end before the first step with fewer rows than a full one
  stop_all,  ///< the data end before the first step in which a replica would have no rows
  error      ///< every worker throws, and the message names the workers
};

/// How a dataset is distributed. The same on every worker.
struct InputOptions {
  /// Whether batches are to be brought to the replicas' devices; so far all are host memory.
  bool fetch_to_device = true;
  InputReplicationMode replication_mode = InputReplicationMode::per_worker;
  /// Wants InputReplicationMode::per_replica, and fetch_to_device false.
  bool place_dataset_on_device = false;
  /// How many batches for each replica a thread makes ahead; 0: none, and there is no thread.
  std::size_t per_replica_buffer_size = 1;
  AutoShardPolicy shard_policy = AutoShardPolicy::automatic;
  UnevenPolicy uneven = UnevenPolicy::pad;
  /// In which proportion the replicas share a batch, one number for each of all replicas; empty: alike.
  std::vector<double> replica_weights = {};
  /// Gets the warnings; where it is not set, worker 0 prints each to stderr, once.
  std::function<void(const std::string&)> warn = {};
};

}  // namespace chorus
