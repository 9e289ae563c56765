// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/cardinality.hpp>
#include <chorus/strategies/detail/input_workers.hpp>
#include <chorus/strategies/input_options.hpp>
#include <chorus/strategies/values.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace chorus::detail {

/// What there is in one step, on all replicas or some of them.
struct StepCounts {
  std::size_t rows = 0;
  std::size_t batches = 0;  ///< replicas that have a batch, with rows or without
  std::size_t with_rows = 0;
};

/// What must be the same on all workers, each as a number; 0 where it need not.
struct PlanSettings {
  static constexpr std::array names{"the shard_policy is",     "the uneven policy is",    "the replication_mode is",
                                    "the replica_weights are", "the rows of a batch are", "the order of shuffle is"};
  static constexpr std::size_t rows = 4;
  std::array<std::int64_t, names.size()> numbers{};
};

/// What a worker knows of an epoch before it begins.
struct LocalPlan {
  Cardinality steps = Cardinality::unknown();
  /// Its rows in the first step, where every step has as many as the first one, over all workers.
  std::optional<std::size_t> rows = {};
  /// Whether the worker sees all of each step's data, and so counts for all.
  bool sees_all = false;
  /// The rows of a step that lacks nothing, where they are known.
  std::optional<std::size_t> full_rows = {};
  bool may_fail = false;  ///< in any step, so that the others must be told
  PlanSettings settings = {};
};

/// What a worker has for the next step.
struct LocalCounts {
  StepCounts own = {};
  std::optional<StepCounts> all = {};  ///< of all workers, where it knows
  std::string failure = {};            ///< the text of what it has thrown instead
  /// row_shape_of its batches, where it has any; for the first step.
  std::optional<std::vector<std::int64_t>> row_shape = {};
};

/// Called by all workers when they have made their data: rethrows `failure`, and on the workers that have none throws
/// Error{invalid_argument} with the text of those that do.
CHORUS_API void agree_on_start(const InputWorkers& workers, const std::exception_ptr& failure);
/// Throws   Error{wrong_context} in a replica: one call takes the batches of all of them.
CHORUS_API void check_takes_steps(const char* function);

/// The workers' agreement on the steps of one epoch: whether there is another one, and how many rows it has. One small
/// allreduce a step; none where the workers find at the first step that all know the same.
class CHORUS_API StepAgreement {
 public:
  StepAgreement(const ReplicaLayout& layout, InputWorkers workers, UnevenPolicy policy, const LocalPlan& plan);

  /// The rows of the next step on all replicas, 0 where it is to be left out; none where the data end.
  /// Order    collective over the workers, called by the thread that consumes.
  /// Throws   Error{invalid_argument} where another worker has failed, or UnevenPolicy::error forbids what is left.
  [[nodiscard]] std::optional<std::size_t> agree(const LocalCounts& counts);

  /// Whether the workers have agreed on a step.
  [[nodiscard]] bool begun() const noexcept { return planned_; }
  /// That of the first worker that has data, for those that have none; empty where no worker needs it.
  [[nodiscard]] std::span<const std::int64_t> row_shape() const noexcept { return row_shape_; }

 private:
  void compare_plans(const LocalCounts& first);
  /// Gives the workers without a row shape that of another one. `lengths`: how many each worker has, or `unknown`.
  void share_row_shape(const LocalCounts& first, const std::vector<std::int64_t>& lengths);
  void compare_settings() const;
  [[nodiscard]] StepCounts all_counts(const LocalCounts& counts);
  [[noreturn]] void report_uneven() const;

  ReplicaLayout layout_;
  InputWorkers workers_;
  UnevenPolicy policy_;
  LocalPlan plan_;
  std::size_t step_ = 0;
  std::size_t own_rows_ = 0;
  StepCounts own_ = {};
  bool planned_ = false;
  std::optional<std::size_t> fixed_rows_;  ///< of every step, on all workers
  bool counts_alone_ = false;              ///< no worker needs to ask the others
  std::vector<std::int64_t> row_shape_ = {};
};

}  // namespace chorus::detail
