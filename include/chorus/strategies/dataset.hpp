// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/strategies/cardinality.hpp>
#include <chorus/strategies/detail/input_iterator.hpp>
#include <chorus/strategies/detail/prefetch.hpp>
#include <chorus/strategies/detail/selections.hpp>
#include <chorus/strategies/detail/shuffle.hpp>
#include <chorus/strategies/detail/stage.hpp>
#include <chorus/strategies/detail/transformations.hpp>
#include <chorus/strategies/row.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace chorus {

/// A place in a pipeline that is replaced by shard(workers, worker) where its dataset is distributed with
/// AutoShardPolicy::hint, and lets everything pass elsewhere.
struct ShardHint {};

/// What batch() does with the elements that do not fill the last batch.
enum class Remainder : std::uint8_t { keep, drop };

/// Whether each epoch has an order of its own.
enum class Reshuffle : std::uint8_t { never, each_epoch };

/// A dataset under way.
template <class T>
class DatasetIterator {
 public:
  explicit DatasetIterator(detail::Running<T> pipeline) : pipeline_(std::move(pipeline)) {}
  /// The next element; none at the end, and from then on. Throws what a function or a source of the dataset throws.
  [[nodiscard]] std::optional<T> next() { return pipeline_->next(); }

 private:
  detail::Running<T> pipeline_;
};

/// A description of data and of what is done to them, one element after the other. A cheap handle: copies mean the same
/// data, which each iterator gives anew, from the beginning. Functions of a dataset make a new one.
///
///     const auto batches = make_array_dataset(images, labels).shuffle(10'000, 1).batch(64);
///     for (const auto& [image_rows, label_rows] : batches) ...
///
/// Order    nothing is read before an iterator asks for it. One dataset may be iterated by several threads at a time,
///          where its functions allow to be called so; an iterator belongs to one of them.
template <class T>
class Dataset {
 public:
  using Element = T;

  explicit Dataset(detail::StagePointer<T> stage) : stage_(std::move(stage)) {}

  /// Starts epoch `epoch`: it tells only how Reshuffle::each_epoch shuffles.
  [[nodiscard]] DatasetIterator<T> iterate(std::uint64_t epoch) const {
    return DatasetIterator<T>(detail::Running<T>(stage_, {.epoch = epoch}));
  }
  /// Starts the epoch after the one that this handle or a copy of it has started last, epoch 0 first.
  [[nodiscard]] DatasetIterator<T> iterate() const { return iterate((*epochs_)++); }
  [[nodiscard]] auto begin() const { return detail::InputIterator<DatasetIterator<T>>(iterate()); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// How many elements an iterator gives.
  [[nodiscard]] Cardinality cardinality() const { return stage_->facts().cardinality; }
  /// The number of rows of each batch, the last of an epoch apart, where the elements are batches and it is known.
  [[nodiscard]] std::optional<std::size_t> batch_size() const {
    const auto batch = stage_->facts().batch;
    return batch ? batch->rows : std::nullopt;
  }

  /// Batches of `rows` elements. Rows of arrays become a batch of the arrays' type; numbers a vector, vectors a Tensor
  /// of two dimensions or what LeafTraits names, structures the structure of that. The members of an aggregate cannot
  /// change their types: name the batch's, batch<Batch>(64), an aggregate with the same members in the same order and
  /// one dimension more in each.
  /// Shapes   all elements of a batch have the same shapes; `rows` is above 0.
  /// Throws   Error{invalid_argument}: at once where `rows` is 0 or a negative number, while iterating where shapes or
  ///          the keys of maps differ.
  template <class B = void>
  [[nodiscard]] auto batch(std::size_t rows, Remainder remainder = Remainder::keep) const {
    using Batch = typename std::conditional_t<std::is_void_v<B>, detail::BatchOf<T>, detail::BatchNamed<B>>::Type;
    require_count(rows, "batch: rows", "the number of elements of a batch");
    return with<Batch, detail::BatchStage<T, Batch>>(rows, remainder == Remainder::drop);
  }

  /// Each time one of the next `buffer` elements, at random: an order like any other where `buffer` is the number of
  /// elements or more. The same seed gives the same order on every machine.
  /// Throws   Error{invalid_argument} where `buffer` is 0 or a negative number.
  [[nodiscard]] Dataset shuffle(std::size_t buffer, std::uint64_t seed, Reshuffle reshuffle = Reshuffle::never) const {
    require_count(buffer, "shuffle: buffer", "the number of elements to draw from");
    using Stage = detail::ShuffleStage<T>;
    return with<T, Stage>(typename Stage::Order{buffer, seed, reshuffle == Reshuffle::each_epoch});
  }

  /// function(element) of each element; of a dataset of arrays, of each Row's value().
  template <class Function>
  [[nodiscard]] auto map(Function function) const {
    using Result = std::remove_cvref_t<decltype(detail::call_with_element(function, std::declval<T>()))>;
    return with<Result, detail::MapStage<T, Result, Function>>(std::move(function));
  }

  /// All elements, again and again; `times` times.
  [[nodiscard]] Dataset repeat() const { return with<T, detail::RepeatStage<T>>(std::nullopt); }
  [[nodiscard]] Dataset repeat(std::size_t times) const { return with<T, detail::RepeatStage<T>>(times); }

  /// The first `count` elements, or all but these; fewer where there are fewer.
  [[nodiscard]] Dataset take(std::size_t count) const { return with<T, detail::TakeStage<T>>(std::size_t{0}, count); }
  [[nodiscard]] Dataset skip(std::size_t count) const { return with<T, detail::TakeStage<T>>(count, std::nullopt); }

  /// Every `number`-th element, from element `index` on. Those between are not made, where that can be: before batch()
  /// and map() it costs least.
  ///
  /// Throws   Error{invalid_argument} unless index < number.
  [[nodiscard]] Dataset shard(std::size_t number, std::size_t index) const {
    require(index < number, "shard: index " + std::to_string(index) + " of " + std::to_string(number) +
                                ": give one from 0 to number - 1");
    return with<T, detail::ShardStage<T>>(detail::Shard{number, index});
  }
  [[nodiscard]] Dataset shard(ShardHint /*hint*/) const { return with<T, detail::ShardStage<T>>(std::nullopt); }

  /// The same elements, up to `count` of them made ahead by a thread of each iterator's; an exception comes where its
  /// element would have come. A DistributedDataset does so itself.
  /// Order    an iterator that is destroyed waits for the element that is being made.
  /// Throws   Error{invalid_argument} where `count` is 0 or a negative number.
  [[nodiscard]] Dataset prefetch(std::size_t count) const {
    require_count(count, "prefetch: count", "the number of elements to make ahead");
    return with<T, detail::PrefetchStage<T>>(count);
  }

  /// The same elements, which are batches of `rows`, all or most of them; of lengths that are not known. To distribute
  /// batches that do not come from batch().
  [[nodiscard]] Dataset with_batch_size(std::optional<std::size_t> rows) const {
    static_assert(BatchStructure<T>, "the elements are no batches: call batch()");
    require(rows != std::size_t{0}, "with_batch_size: rows is 0: give the number of rows of a batch");
    return with<T, detail::BatchSizeStage<T>>(rows);
  }

  [[nodiscard]] const detail::StagePointer<T>& stage() const noexcept { return stage_; }

 private:
  template <class Result, class Stage, class... Arguments>
  [[nodiscard]] Dataset<Result> with(Arguments&&... arguments) const {
    return Dataset<Result>(std::make_shared<const Stage>(stage_, std::forward<Arguments>(arguments)...));
  }
  static void require(bool condition, const std::string& otherwise) {
    if (!condition) throw Error(ErrorCode::invalid_argument, "Dataset::" + otherwise);
  }
  /// That `count` is above 0, and no negative number that became one without a sign.
  static void require_count(std::size_t count, const std::string& name, const std::string& wanted) {
    const auto given = static_cast<std::ptrdiff_t>(count);
    require(given > 0, name + " is " + std::to_string(given) + ": give " + wanted);
  }

  detail::StagePointer<T> stage_;
  std::shared_ptr<std::atomic<std::uint64_t>> epochs_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace chorus
