// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/batch.hpp>
#include <chorus/strategies/detail/division.hpp>
#include <chorus/strategies/detail/stage.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// What one worker has for each step, before the workers agree on it.
namespace chorus::detail {

/// Batches for this worker's first replicas; fewer than there are replicas at the end of the data.
template <class B>
struct LocalStep {
  std::vector<B> batches;
  std::optional<StepCounts> all = {};  ///< of all workers, where one can tell
};

/// In the place of steps that could not be started: throws why.
template <class B>
class FailedSteps final : public Cursor<LocalStep<B>> {
 public:
  explicit FailedSteps(std::exception_ptr failure) : failure_(std::move(failure)) {}
  std::optional<LocalStep<B>> next() override { std::rethrow_exception(failure_); }

 private:
  std::exception_ptr failure_;
};

/// Batches whose lengths are `sizes` in turn, cut from the rows of all batches in a row. Each batch that comes is cut
/// where the borders will be, so that a part which makes a whole batch is not copied again.
template <BatchStructure B>
class StreamedSteps final : public Cursor<LocalStep<B>> {
 public:
  StreamedSteps(Running<B> batches, std::vector<std::size_t> sizes, int local_replicas)
      : batches_(std::move(batches)), sizes_(std::move(sizes)), local_(static_cast<std::size_t>(local_replicas)) {}

  std::optional<LocalStep<B>> next() override {
    if (failure_) std::rethrow_exception(failure_);
    LocalStep<B> step;
    for (; step.batches.size() < local_; at_ = (at_ + 1) % sizes_.size()) {
      const bool finished = sizes_[at_] == 0 && !step.batches.empty();
      if (!(finished ? may_have_rows() : has_rows())) break;
      step.batches.push_back(finished ? zero_rows(step.batches.front(), 0) : take());
    }
    if (step.batches.empty()) return std::nullopt;
    return step;
  }

 private:
  /// Whether there is a row left; the next part is at the front of parts_ then.
  bool has_rows(std::size_t wanted) {
    while (parts_.empty()) {
      auto cut = batches_->next_parts([&](std::size_t rows) { return cut_ahead(rows, wanted); });
      if (!cut) return false;
      for (B& part : cut->parts) parts_.push_back(std::move(part));
    }
    return true;
  }
  bool has_rows() { return has_rows(sizes_[at_]); }
  /// For a batch without rows: what cannot be read belongs to a later step, which says so.
  bool may_have_rows() {
    try {
      return has_rows();
    } catch (...) {
      failure_ = std::current_exception();
      return true;
    }
  }

  /// Cuts `rows`: first what the batch at hand lacks, then the lengths after it.
  std::vector<RowRange> cut_ahead(std::size_t rows, std::size_t wanted) const {
    std::vector<RowRange> ranges;
    std::size_t size = wanted;
    std::size_t next = at_;
    for (std::size_t first = 0; first < rows; size = sizes_[next]) {
      const std::size_t count = std::min(size, rows - first);
      if (count > 0) ranges.push_back({first, count});
      first += count;
      next = (next + 1) % sizes_.size();
    }
    return ranges;
  }

  /// The batch at hand; shorter where the data end.
  B take() {
    const std::size_t size = sizes_[at_];
    if (size == 0) return zero_rows(parts_.front(), 0);
    std::vector<B> pieces;
    std::size_t rows = 0;
    while (rows < size && has_rows(size - rows)) {
      pieces.push_back(std::move(parts_.front()));
      parts_.pop_front();
      rows += row_count(pieces.back());
    }
    return pieces.size() == 1 ? std::move(pieces.front()) : concatenate(std::span<const B>(pieces));
  }

  Running<B> batches_;
  std::vector<std::size_t> sizes_;
  std::size_t local_;
  std::size_t at_ = 0;  ///< the batch at hand has the length sizes_[at_]
  std::deque<B> parts_;
  std::exception_ptr failure_;
};

/// The slices of each batch.
template <BatchStructure B>
class SlicedSteps final : public Cursor<LocalStep<B>> {
 public:
  SlicedSteps(Running<B> batches, Slices slices, int local_replicas)
      : batches_(std::move(batches)), slices_(std::move(slices)), local_(static_cast<std::size_t>(local_replicas)) {}

  std::optional<LocalStep<B>> next() override {
    if (parts_.empty()) {
      auto cut = batches_->next_parts([this](std::size_t rows) { return slices_.cut(rows); });
      if (!cut) return std::nullopt;
      rows_ = cut->rows;
      for (B& part : cut->parts) parts_.push_back(std::move(part));
    }
    LocalStep<B> step;
    for (; step.batches.size() < local_; parts_.pop_front()) step.batches.push_back(std::move(parts_.front()));
    if (slices_.sees_all) step.all = counts_of_all();
    return step;
  }

 private:
  StepCounts counts_of_all() const {
    const std::vector<std::size_t> sizes = slices_.sizes(rows_);
    const auto empty = static_cast<std::size_t>(std::ranges::count(sizes, std::size_t{0}));
    return {rows_, sizes.size(), sizes.size() - empty};
  }

  Running<B> batches_;
  Slices slices_;
  std::size_t local_;
  std::size_t rows_ = 0;
  std::deque<B> parts_;
};

/// Batches as they come: of one dataset in turn, or of one for each replica.
template <BatchStructure B>
class WholeSteps final : public Cursor<LocalStep<B>> {
 public:
  WholeSteps(std::vector<Running<B>> datasets, int local_replicas)
      : datasets_(std::move(datasets)), local_(static_cast<std::size_t>(local_replicas)) {}

  std::optional<LocalStep<B>> next() override {
    LocalStep<B> step;
    std::vector<std::optional<B>> taken;
    for (std::size_t replica = 0; replica < local_; ++replica) {
      taken.push_back(datasets_[replica % datasets_.size()]->next());
    }
    const auto some = std::ranges::find_if(taken, [](const auto& batch) { return batch.has_value(); });
    if (some == taken.end()) return std::nullopt;
    const B none = zero_rows(**some, 0);
    for (std::optional<B>& batch : taken) step.batches.push_back(batch ? std::move(*batch) : none);
    return step;
  }

 private:
  std::vector<Running<B>> datasets_;
  std::size_t local_;
};

}  // namespace chorus::detail
