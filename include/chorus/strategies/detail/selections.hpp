// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/strategies/detail/stage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

// Which elements of a dataset come, and how often.
namespace chorus::detail {

/// Elements first to first + count - 1.
template <class T>
class TakeStage final : public Stage<T> {
 public:
  TakeStage(StagePointer<T> input, std::size_t first, std::optional<std::size_t> count)
      : input_(std::move(input)), first_(first), count_(count) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override {
    return std::make_unique<Some>(*this, input_->start(start));
  }
  [[nodiscard]] PipelineFacts facts() const override {
    PipelineFacts facts = input_->facts();
    if (facts.cardinality.is_infinite() && count_) facts.cardinality = Cardinality::known(first_ + *count_);
    facts.cardinality = facts.cardinality.changed([this](std::size_t elements) {
      const std::size_t left = elements - std::min(elements, first_);
      return count_ ? std::min(*count_, left) : left;
    });
    return facts;
  }

 private:
  class Some final : public Cursor<T> {
   public:
    Some(const TakeStage& stage, std::unique_ptr<Cursor<T>> input)
        : input_(std::move(input)), before_(stage.first_), left_(stage.count_) {}
    std::optional<T> next() override { return admits(1) == 1 ? input_->next() : std::nullopt; }
    std::size_t skip(std::size_t count) override { return input_->skip(admits(count)); }
    std::optional<BatchParts<T>> next_parts(const CutRows& cut) override {
      return admits(1) == 1 ? input_->next_parts(cut) : std::nullopt;
    }

   private:
    std::size_t admits(std::size_t count) {
      if (before_ > 0) input_->skip(std::exchange(before_, 0));
      if (!left_) return count;
      const std::size_t admitted = std::min(count, *left_);
      *left_ -= admitted;
      return admitted;
    }

    std::unique_ptr<Cursor<T>> input_;
    std::size_t before_;
    std::optional<std::size_t> left_;
  };

  StagePointer<T> input_;
  std::size_t first_;
  std::optional<std::size_t> count_;
};

/// All elements `times` times, endlessly where it is not given; each time is an epoch of its own.
template <class T>
class RepeatStage final : public Stage<T> {
 public:
  RepeatStage(StagePointer<T> input, std::optional<std::size_t> times) : input_(std::move(input)), times_(times) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override {
    return std::make_unique<Epochs>(*this, start);
  }
  [[nodiscard]] PipelineFacts facts() const override {
    PipelineFacts facts = input_->facts();
    const bool none = facts.cardinality.count() == std::size_t{0};
    if (times_)
      facts.cardinality = *times_ == 0 ? Cardinality::known(0)
                                       : facts.cardinality.changed([this](std::size_t n) { return n * *times_; });
    else if (!none)
      facts.cardinality = Cardinality::infinite();
    const bool once = times_ && *times_ <= 1;
    if (facts.batch && facts.batch->short_batches == ShortBatches::one && !once) {
      facts.batch->short_batches = ShortBatches::some;
    }
    return facts;
  }

 private:
  class Epochs final : public Cursor<T> {
   public:
    Epochs(const RepeatStage& stage, const Start& start) : stage_(stage), start_(start), left_(stage.times_) {
      // So that no two epochs of what repeats this are the same one.
      start_.epoch = left_ ? start.epoch * *left_ : start.epoch << 32U;
      begin_next();
    }
    std::optional<T> next() override {
      return from_epochs([](Cursor<T>& epoch) { return epoch.next(); });
    }
    std::optional<BatchParts<T>> next_parts(const CutRows& cut) override {
      return from_epochs([&](Cursor<T>& epoch) { return epoch.next_parts(cut); });
    }
    std::size_t skip(std::size_t count) override {
      std::size_t skipped = 0;
      while (epoch_) {
        const std::size_t passed = epoch_->skip(count - skipped);
        has_elements_ = has_elements_ || passed > 0;
        skipped += passed;
        if (skipped == count) break;
        begin_next();
      }
      return skipped;
    }

   private:
    template <class Take>
    auto from_epochs(const Take& take) -> decltype(take(std::declval<Cursor<T>&>())) {
      while (epoch_) {
        if (auto taken = take(*epoch_)) {
          has_elements_ = true;
          return taken;
        }
        begin_next();
      }
      return std::nullopt;
    }
    void begin_next() {
      // What gave nothing once is not asked endlessly.
      const bool more = has_elements_ && (!left_ || *left_ > 0);
      epoch_ = nullptr;
      if (!more) return;
      has_elements_ = false;
      if (left_) --*left_;
      epoch_ = stage_.input_->start(start_);
      ++start_.epoch;
    }

    const RepeatStage& stage_;
    Start start_;
    std::optional<std::size_t> left_;
    std::unique_ptr<Cursor<T>> epoch_;
    bool has_elements_ = true;
  };

  StagePointer<T> input_;
  std::optional<std::size_t> times_;
};

/// Every n-th element; which ones is told at the start where `shard` is not given.
template <class T>
class ShardStage final : public Stage<T> {
 public:
  ShardStage(StagePointer<T> input, std::optional<Shard> shard) : input_(std::move(input)), shard_(shard) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override {
    return std::make_unique<Some>(input_->start(start), shard_.value_or(start.hint), !shard_);
  }
  [[nodiscard]] PipelineFacts facts() const override {
    PipelineFacts facts = input_->facts();
    facts.has_hint = facts.has_hint || !shard_;
    if (shard_) {
      facts.cardinality = facts.cardinality.changed([this](std::size_t elements) {
        return elements <= shard_->index ? 0 : (elements - shard_->index - 1) / shard_->number + 1;
      });
    }
    return facts;
  }

 private:
  class Some final : public Cursor<T> {
   public:
    Some(std::unique_ptr<Cursor<T>> input, Shard shard, bool hinted)
        : input_(std::move(input)), shard_(shard), before_(shard.index), must_have_(hinted && shard.number > 1) {}
    std::optional<T> next() override {
      pass();
      return checked(input_->next());
    }
    std::optional<BatchParts<T>> next_parts(const CutRows& cut) override {
      pass();
      return checked(input_->next_parts(cut));
    }

   private:
    void pass() { input_->skip(std::exchange(before_, shard_.number - 1)); }
    template <class Element>
    std::optional<Element> checked(std::optional<Element> element) {
      if (!element && must_have_) {
        throw Error(ErrorCode::invalid_argument,
                    "Dataset::shard: nothing is left for shard " + std::to_string(shard_.index) + " of " +
                        std::to_string(shard_.number) +
                        " at the ShardHint: put it where there are more elements, or use fewer workers");
      }
      must_have_ = false;
      return element;
    }

    std::unique_ptr<Cursor<T>> input_;
    Shard shard_;
    std::size_t before_;
    bool must_have_;
  };

  StagePointer<T> input_;
  std::optional<Shard> shard_;
};

}  // namespace chorus::detail
