// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/detail/stage.hpp>
#include <chorus/strategies/row.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

// What a dataset is changed by, element by element. Each stage starts its input and changes what is known of it.
namespace chorus::detail {

template <class T, class Function>
decltype(auto) call_with_element(const Function& function, T&& element) {
  if constexpr (is_row<std::remove_cvref_t<T>>)
    return function(element.value());
  else
    return function(std::forward<T>(element));
}

template <class In, class T, class Function>
class MapStage final : public Stage<T> {
 public:
  MapStage(StagePointer<In> input, Function function) : input_(std::move(input)), function_(std::move(function)) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override {
    return std::make_unique<Mapped>(function_, input_->start(start));
  }
  /// The function is taken to keep the number of rows of a batch, mostly.
  [[nodiscard]] PipelineFacts facts() const override {
    PipelineFacts facts = input_->facts();
    if (!BatchStructure<T>) facts.batch.reset();
    if (facts.batch) facts.batch->short_batches = ShortBatches::some;
    facts.may_fail = true;
    return facts;
  }

 private:
  class Mapped final : public Cursor<T> {
   public:
    Mapped(const Function& function, std::unique_ptr<Cursor<In>> input)
        : function_(function), input_(std::move(input)) {}
    std::optional<T> next() override {
      std::optional<In> element = input_->next();
      if (!element) return std::nullopt;
      return call_with_element(function_, std::move(*element));
    }
    std::size_t skip(std::size_t count) override { return input_->skip(count); }

   private:
    const Function& function_;
    std::unique_ptr<Cursor<In>> input_;
  };

  StagePointer<In> input_;
  Function function_;
};

/// Batches of `rows` elements; the last has fewer where the elements do not divide, or is left out.
template <class T, BatchStructure B>
class BatchStage final : public Stage<B> {
 public:
  BatchStage(StagePointer<T> input, std::size_t rows, bool drop_remainder)
      : input_(std::move(input)), rows_(rows), drop_remainder_(drop_remainder) {}

  [[nodiscard]] std::unique_ptr<Cursor<B>> start(const Start& start) const override {
    return std::make_unique<Batches>(*this, input_->start(start));
  }
  [[nodiscard]] PipelineFacts facts() const override {
    PipelineFacts facts = input_->facts();
    const std::optional<std::size_t> count = facts.cardinality.count();
    const bool all_full = drop_remainder_ || facts.cardinality.is_infinite() || (count && *count % rows_ == 0);
    facts.batch = BatchFacts{rows_, all_full ? ShortBatches::none : ShortBatches::one};
    facts.cardinality = facts.cardinality.changed(
        [this](std::size_t elements) { return elements / rows_ + (drop_remainder_ || elements % rows_ == 0 ? 0 : 1); });
    return facts;
  }

 private:
  class Batches final : public Cursor<B> {
   public:
    Batches(const BatchStage& stage, std::unique_ptr<Cursor<T>> input) : stage_(stage), input_(std::move(input)) {}

    std::optional<B> next() override {
      if (!collect()) return std::nullopt;
      return stack<B>(std::span<const T>(elements_), 0, elements_.size());
    }
    std::size_t skip(std::size_t count) override {
      std::size_t skipped = 0;
      for (bool full = true; full && skipped < count; ++skipped) {
        const std::size_t passed = input_->skip(stage_.rows_);
        full = passed == stage_.rows_;
        if (passed == 0 || (!full && stage_.drop_remainder_)) break;
      }
      return skipped;
    }
    std::optional<BatchParts<B>> next_parts(const CutRows& cut) override {
      if (!collect()) return std::nullopt;
      BatchParts<B> result{{}, elements_.size()};
      for (const RowRange& range : cut(result.rows)) {
        result.parts.push_back(stack<B>(std::span<const T>(elements_), range.first, range.count));
      }
      return result;
    }

   private:
    bool collect() {
      elements_.clear();
      while (elements_.size() < stage_.rows_) {
        std::optional<T> element = input_->next();
        if (!element) break;
        elements_.push_back(std::move(*element));
      }
      return elements_.size() == stage_.rows_ || (!elements_.empty() && !stage_.drop_remainder_);
    }

    const BatchStage& stage_;
    std::unique_ptr<Cursor<T>> input_;
    std::vector<T> elements_;
  };

  StagePointer<T> input_;
  std::size_t rows_;
  bool drop_remainder_;
};

/// The same elements, which are batches of `rows`, or of lengths that are not known.
template <class T>
class BatchSizeStage final : public Stage<T> {
 public:
  BatchSizeStage(StagePointer<T> input, std::optional<std::size_t> rows) : input_(std::move(input)), rows_(rows) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override { return input_->start(start); }
  [[nodiscard]] PipelineFacts facts() const override {
    PipelineFacts facts = input_->facts();
    facts.batch = BatchFacts{rows_, ShortBatches::some};
    return facts;
  }

 private:
  StagePointer<T> input_;
  std::optional<std::size_t> rows_;
};

}  // namespace chorus::detail
