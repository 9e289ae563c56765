// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/batch.hpp>
#include <chorus/strategies/cardinality.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Every `number`-th element from `index` on.
struct Shard {
  std::size_t number = 1;
  std::size_t index = 0;
};

/// What a pipeline is told when it starts.
struct Start {
  std::uint64_t epoch = 0;
  Shard files = {};  ///< which of its files a source reads
  Shard hint = {};   ///< what stands for a ShardHint
};

/// Which batches of a pipeline may be shorter than batch_size.
enum class ShortBatches : std::uint8_t { none, one, some };

/// That the elements are batches.
struct BatchFacts {
  std::optional<std::size_t> rows;
  ShortBatches short_batches = ShortBatches::some;
};

/// A checksum of the numbers that it is called with in turn.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t checksum, std::uint64_t number) noexcept {
  return (checksum ^ (number + 1)) * 0x9E3779B97F4A7C15U;
}

/// What is known of a pipeline before it starts.
struct PipelineFacts {
  Cardinality cardinality = Cardinality::unknown();
  std::optional<BatchFacts> batch = {};
  std::optional<std::size_t> files = {};  ///< how many its source reads, where it reads files
  bool has_hint = false;
  bool may_fail = false;    ///< it calls the program's functions or reads files, so that one worker alone may fail
  std::uint64_t order = 0;  ///< the same for datasets that are shuffled alike
};

struct RowRange {
  std::size_t first = 0;
  std::size_t count = 0;
};
/// Which parts of a batch of `rows` are wanted.
using CutRows = std::function<std::vector<RowRange>(std::size_t rows)>;

template <class B>
struct BatchParts {
  std::vector<B> parts;
  std::size_t rows = 0;  ///< of the whole batch
};

/// The parts of `batch` that `cut` wants.
template <BatchStructure B>
BatchParts<B> cut_batch(B batch, const CutRows& cut) {
  const std::size_t rows = row_count(batch);
  const std::vector<RowRange> ranges = cut(rows);
  BatchParts<B> result{std::vector<B>(ranges.size()), rows};
  std::optional<std::size_t> whole;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (!whole && rows > 0 && ranges[i].count == rows)
      whole = i;
    else
      result.parts[i] = slice_rows(batch, ranges[i].first, ranges[i].count);
  }
  if (whole) result.parts[*whole] = std::move(batch);
  return result;
}

/// A pipeline under way.
template <class T>
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;

  /// The next element; none at the end, and from then on.
  virtual std::optional<T> next() = 0;

  /// Passes over `count` elements without making them, where that can be; returns how many there were.
  virtual std::size_t skip(std::size_t count) {
    std::size_t skipped = 0;
    while (skipped < count && next()) ++skipped;
    return skipped;
  }

  /// The parts of the next batch that `cut` wants, the others are not made, where that can be; none at the end.
  virtual std::optional<BatchParts<T>> next_parts(const CutRows& cut) {
    if constexpr (BatchStructure<T>) {
      std::optional<T> batch = next();
      if (batch) return cut_batch(std::move(*batch), cut);
    }
    return std::nullopt;
  }
};

/// The description of a pipeline, which is started again and again. Cursors may refer to it.
template <class T>
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  [[nodiscard]] virtual std::unique_ptr<Cursor<T>> start(const Start& start) const = 0;
  [[nodiscard]] virtual PipelineFacts facts() const = 0;
};

template <class T>
using StagePointer = std::shared_ptr<const Stage<T>>;

/// A cursor that keeps alive what it refers to.
template <class T>
class Running {
 public:
  Running(StagePointer<T> stage, const Start& start) : stage_(std::move(stage)), cursor_(stage_->start(start)) {}
  Cursor<T>* operator->() const noexcept { return cursor_.get(); }

 private:
  StagePointer<T> stage_;
  std::unique_ptr<Cursor<T>> cursor_;
};

}  // namespace chorus::detail
