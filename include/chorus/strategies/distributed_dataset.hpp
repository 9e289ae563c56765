// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/dataset.hpp>
#include <chorus/strategies/detail/division.hpp>
#include <chorus/strategies/detail/input_workers.hpp>
#include <chorus/strategies/detail/local_steps.hpp>
#include <chorus/strategies/detail/prefetch.hpp>
#include <chorus/strategies/detail/row_shape.hpp>
#include <chorus/strategies/detail/step_agreement.hpp>
#include <chorus/strategies/detail/text_of.hpp>
#include <chorus/strategies/input_options.hpp>
#include <chorus/strategies/values.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// What the replicas compute with in one step.
template <BatchStructure B>
class DistributedBatch {
 public:
  DistributedBatch(PerReplica<B> batches, std::vector<std::size_t> local_sizes, std::size_t global_size)
      : batches_(std::move(batches)), local_sizes_(std::move(local_sizes)), global_size_(global_size) {}

  /// A batch for each of this worker's replicas; one without rows where a replica has no data left.
  [[nodiscard]] const PerReplica<B>& batches() const noexcept { return batches_; }
  [[nodiscard]] PerReplica<B>& batches() noexcept { return batches_; }
  /// The rows of each of them.
  [[nodiscard]] std::span<const std::size_t> local_sizes() const noexcept { return local_sizes_; }
  /// The rows of this step on all replicas of all workers: what a mean over the examples divides by.
  [[nodiscard]] std::size_t global_size() const noexcept { return global_size_; }

 private:
  PerReplica<B> batches_;
  std::vector<std::size_t> local_sizes_;
  std::size_t global_size_;
};

/// An epoch of a distributed dataset.
template <BatchStructure B>
class DistributedIterator {
 public:
  using Steps = std::unique_ptr<detail::Cursor<detail::LocalStep<B>>>;
  using Example = std::function<std::optional<B>()>;

  /// `example` gives some batch of the data, where this worker has none.
  DistributedIterator(const ReplicaLayout& layout, Steps steps, detail::StepAgreement agreement, Example example)
      : layout_(layout), steps_(std::move(steps)), agreement_(std::move(agreement)), example_(std::move(example)) {}

  /// The batches of the next step; none at the end, and from then on.
  /// Order    collective over the workers: one small allreduce, unless all know without it how many steps there are.
  ///          The same thread may call other collectives in between; the reading thread calls none.
  /// Result   what no replica of any worker has rows for is no step: it is left out.
  /// Throws   Error{wrong_context} in a replica; what a function or source of the dataset throws, and on the other
  ///          workers Error{invalid_argument}, which names this one; Error{invalid_argument} on every worker where
  ///          UnevenPolicy::error forbids what is left. The iterator is at its end then, unless it was a replica.
  [[nodiscard]] std::optional<DistributedBatch<B>> next() {
    detail::check_takes_steps("DistributedIterator::next");
    while (steps_) {
      std::optional<DistributedBatch<B>> step = next_agreed();
      if (!step || step->global_size() > 0) return step;
    }
    return std::nullopt;
  }

 private:
  /// The batches of the next step, whether any replica has rows or none; none at the end.
  std::optional<DistributedBatch<B>> next_agreed() {
    std::optional<detail::LocalStep<B>> step;
    std::exception_ptr failure;
    try {
      step = steps_->next();
      prepare_padding(step);
    } catch (...) {
      failure = std::current_exception();
      steps_.reset();
    }
    if (!step || failure) step.emplace();
    detail::LocalCounts counts{.all = step->all, .failure = detail::text_of(failure)};
    if (none_ && !agreement_.begun()) counts.row_shape = detail::row_shape_of(*none_);
    std::vector<std::size_t> sizes = count(step->batches, counts);
    const std::optional<std::size_t> rows = agreed(counts, failure);
    if (!rows) return std::nullopt;
    pad(step->batches);
    sizes.resize(step->batches.size());
    return DistributedBatch<B>(PerReplica<B>(layout_, std::move(step->batches)), std::move(sizes), *rows);
  }

  static std::vector<std::size_t> count(const std::vector<B>& batches, detail::LocalCounts& counts) {
    std::vector<std::size_t> sizes;
    for (const B& batch : batches) {
      sizes.push_back(row_count(batch));
      counts.own.rows += sizes.back();
      if (sizes.back() > 0) ++counts.own.with_rows;
    }
    counts.own.batches = batches.size();
    return sizes;
  }

  std::optional<std::size_t> agreed(const detail::LocalCounts& counts, const std::exception_ptr& failure) {
    std::optional<std::size_t> rows;
    try {
      rows = agreement_.agree(counts);
    } catch (...) {
      steps_.reset();
      throw;
    }
    if (failure) std::rethrow_exception(failure);
    if (!rows) steps_.reset();
    return rows;
  }

  /// Makes a batch without rows, before the workers agree. Where this worker has no data, one like another worker's: of
  /// types that say all but the shape of rows, which the others tell, when it is needed; else by reading, which may
  /// fail.
  void prepare_padding(const std::optional<detail::LocalStep<B>>& step) {
    if (none_) return;
    if (step) {
      none_ = zero_rows(step->batches.front(), 0);
    } else if constexpr (detail::may_differ<B>()) {
      if (layout_.workers == 1) return;
      if (const std::optional<B> batch = example_()) none_ = zero_rows(*batch, 0);
    }
  }
  /// Gives replicas without a batch one without rows.
  void pad(std::vector<B>& batches) {
    if (!none_) none_ = detail::batch_without_rows<B>(agreement_.row_shape());
    while (batches.size() < static_cast<std::size_t>(layout_.local_replicas)) batches.push_back(*none_);
  }

  ReplicaLayout layout_;
  Steps steps_;  ///< none at the end
  detail::StepAgreement agreement_;
  Example example_;
  std::optional<B> none_;
};

/// Data for the replicas of all workers, step by step: a range of DistributedBatch. Each iterator starts an epoch anew.
///
///     for (const auto& step : DistributedDataset(dataset.batch(256), layout, workers)) {
///       ... step.batches()[replica], step.global_size() ...
///     }
///
/// Order    every worker iterates as often, as far, and with the same options. A cheap handle, as Dataset is.
template <BatchStructure B>
class DistributedDataset {
 public:
  using Element = DistributedBatch<B>;

  /// Divides each batch of `dataset`, which has the rows of all replicas together, among them: as the shard policy says
  /// among the workers, and split_batch among the replicas. The batches of a step have the dataset's number of rows,
  /// except the last; where the workers see the same data or different ones (AutoShardPolicy::off, file, hint), each
  /// cuts its own rows so that all together have.
  /// Shapes   `dataset` is batched and describes the same data on every worker; the ranks of `workers`, a communicator,
  ///          are the workers, and it may be left out where there is one.
  /// Throws   Error{invalid_argument} where the dataset is not batched, has no files or fewer than workers for
  ///          AutoShardPolicy::file, or the arguments do not fit together, or another worker throws;
  ///          Error{not_supported} for InputReplicationMode::per_replica.
  /// Order    called by all workers.
  DistributedDataset(const Dataset<B>& dataset, const ReplicaLayout& layout, detail::InputWorkers workers = {},
                     InputOptions options = {})
      : DistributedDataset(layout, std::move(workers), std::move(options)) {
    together([&] {
      state_->division = detail::divide(dataset.stage()->facts(), layout, state_->options);
      state_->stages = {dataset.stage()};
      state_->divided = true;
    });
  }

  /// The batches that make_dataset(InputContext) gives, as they are: it is called once on each worker, whose replicas
  /// take the batches in turn, or for each replica, and sees itself to which data it takes.
  /// Order    called by all workers.
  /// Throws   what the function throws, and on the other workers Error{invalid_argument} with its text;
  ///          Error{not_supported} where the options tell how to divide batches.
  template <class Function>
  [[nodiscard]] static DistributedDataset from_function(const Function& make_dataset, const ReplicaLayout& layout,
                                                        detail::InputWorkers workers = {}, InputOptions options = {}) {
    DistributedDataset distributed(layout, std::move(workers), std::move(options));
    State& state = *distributed.state_;
    const bool each = state.options.replication_mode == InputReplicationMode::per_replica;
    const int calls = each ? layout.local_replicas : 1;
    distributed.together([&] {
      std::vector<detail::PipelineFacts> facts;
      for (int call = 0; call < calls; ++call) {
        const Dataset<B> dataset =
            make_dataset(InputContext{layout.workers * calls, layout.worker * calls + call, layout.replicas()});
        state.stages.push_back(dataset.stage());
        facts.push_back(dataset.stage()->facts());
      }
      state.division = detail::keep_whole(facts, layout, state.options);
    });
    return distributed;
  }

  /// Starts epoch `epoch`: it tells only how Reshuffle::each_epoch shuffles. Not collective, but what follows is.
  [[nodiscard]] DistributedIterator<B> iterate(std::uint64_t epoch) const {
    const auto state = state_;
    typename DistributedIterator<B>::Steps steps;
    try {
      steps = make_steps(epoch);
      if (state->options.per_replica_buffer_size > 0) {
        using Prefetch = detail::PrefetchCursor<detail::LocalStep<B>>;
        steps = std::make_unique<Prefetch>(std::move(steps), state->options.per_replica_buffer_size);
      }
    } catch (...) {  // told in the first step, where the others are
      steps = std::make_unique<detail::FailedSteps<B>>(std::current_exception());
    }
    const auto example = [state]() -> std::optional<B> {
      return state->divided ? detail::Running<B>(state->stages.front(), {})->next() : std::nullopt;
    };
    return {state->layout, std::move(steps),
            detail::StepAgreement(state->layout, state->workers, state->options.uneven, state->division.plan), example};
  }
  /// Starts the epoch after the one that this handle or a copy of it has started last, epoch 0 first.
  [[nodiscard]] DistributedIterator<B> iterate() const { return iterate(state_->epochs++); }
  /// Throws   as DistributedIterator::next.
  [[nodiscard]] auto begin() const {
    detail::check_takes_steps("DistributedDataset::begin");
    return detail::InputIterator<DistributedIterator<B>>(iterate());
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  [[nodiscard]] const ReplicaLayout& layout() const noexcept { return state_->layout; }
  /// How many steps an epoch has, as far as this worker knows without reading.
  [[nodiscard]] Cardinality cardinality() const {
    const bool all_full = state_->division.plan.rows.has_value();
    const bool known = (state_->options.uneven == UnevenPolicy::pad && !state_->division.may_lack_rows) || all_full;
    return known ? state_->division.plan.steps : Cardinality::unknown();
  }
  /// The rows of every batch of this worker's, where they never vary: the type tells all else of its shape that is
  /// known.
  [[nodiscard]] std::optional<std::size_t> batch_rows() const { return state_->division.batch_rows; }

  /// function(... function(function(initial, first batch), second batch) ..., last batch) of one epoch.
  template <class T, class Function>
  [[nodiscard]] T reduce(T initial, const Function& function) const {
    for (auto& batch : *this) initial = function(std::move(initial), batch);
    return initial;
  }

 private:
  struct State {
    State(const ReplicaLayout& of, detail::InputWorkers sharing, InputOptions chosen)
        : layout(of), workers(std::move(sharing)), options(std::move(chosen)) {}

    ReplicaLayout layout;
    detail::InputWorkers workers;
    InputOptions options;
    detail::Division division = {};
    std::vector<detail::StagePointer<B>> stages = {};
    bool divided = false;  ///< not made by a function, which divides itself
    std::atomic<std::uint64_t> epochs = 0;
  };

  DistributedDataset(const ReplicaLayout& layout, detail::InputWorkers workers, InputOptions options) {
    detail::check_layout(layout, workers);
    state_ = std::make_shared<State>(layout, std::move(workers), std::move(options));
  }

  /// make(), where all workers or none succeed.
  template <class Make>
  void together(const Make& make) {
    std::exception_ptr failure;
    try {
      detail::check_options(state_->layout, state_->options);
      make();
    } catch (...) {
      failure = std::current_exception();
    }
    detail::agree_on_start(state_->workers, failure);
  }

  [[nodiscard]] typename DistributedIterator<B>::Steps make_steps(std::uint64_t epoch) const {
    const detail::Division& division = state_->division;
    const int local = state_->layout.local_replicas;
    detail::Start start = division.shards;
    start.epoch = epoch;
    std::vector<detail::Running<B>> running;
    for (const auto& stage : state_->stages) running.emplace_back(stage, start);
    if (!state_->divided) return std::make_unique<detail::WholeSteps<B>>(std::move(running), local);
    if (division.sizes.empty()) {
      return std::make_unique<detail::SlicedSteps<B>>(std::move(running.front()), division.slices, local);
    }
    return std::make_unique<detail::StreamedSteps<B>>(std::move(running.front()), division.sizes, local);
  }

  std::shared_ptr<State> state_;
};

}  // namespace chorus
