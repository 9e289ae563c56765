// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/detail/stage.hpp>
#include <chorus/strategies/row.hpp>
#include <chorus/strategies/split.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// first, first + step, ... count of them.
class RangeStage final : public Stage<std::int64_t> {
 public:
  RangeStage(std::int64_t first, std::int64_t step, std::size_t count) : first_(first), step_(step), count_(count) {}

  [[nodiscard]] std::unique_ptr<Cursor<std::int64_t>> start(const Start& /*start*/) const override {
    return std::make_unique<Numbers>(*this);
  }
  [[nodiscard]] PipelineFacts facts() const override { return {.cardinality = Cardinality::known(count_)}; }

 private:
  class Numbers final : public Cursor<std::int64_t> {
   public:
    explicit Numbers(const RangeStage& range) : range_(range) {}
    std::optional<std::int64_t> next() override {
      if (at_ == range_.count_) return std::nullopt;
      // Unsigned, as the distance from the first number need not fit into a signed one.
      const std::uint64_t distance = static_cast<std::uint64_t>(range_.step_) * at_++;
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(range_.first_) + distance);
    }
    std::size_t skip(std::size_t count) override {
      const std::size_t skipped = std::min(count, range_.count_ - at_);
      at_ += skipped;
      return skipped;
    }

   private:
    const RangeStage& range_;
    std::size_t at_ = 0;
  };

  std::int64_t first_;
  std::int64_t step_;
  std::size_t count_;
};

template <BatchStructure B>
class ArrayStage final : public Stage<Row<B>> {
 public:
  explicit ArrayStage(B arrays) : arrays_(std::make_shared<const B>(std::move(arrays))), rows_(row_count(*arrays_)) {}

  [[nodiscard]] std::unique_ptr<Cursor<Row<B>>> start(const Start& /*start*/) const override {
    return std::make_unique<Rows>(arrays_, rows_);
  }
  [[nodiscard]] PipelineFacts facts() const override { return {.cardinality = Cardinality::known(rows_)}; }

  class Rows final : public Cursor<Row<B>> {
   public:
    Rows(std::shared_ptr<const B> arrays, std::size_t rows) : arrays_(std::move(arrays)), rows_(rows) {}
    std::optional<Row<B>> next() override {
      if (at_ == rows_) return std::nullopt;
      return Row<B>(arrays_, at_++);
    }
    std::size_t skip(std::size_t count) override {
      const std::size_t skipped = std::min(count, rows_ - at_);
      at_ += skipped;
      return skipped;
    }

   private:
    std::shared_ptr<const B> arrays_;
    std::size_t rows_;
    std::size_t at_ = 0;
  };

 private:
  std::shared_ptr<const B> arrays_;
  std::size_t rows_;
};

/// What factory() returns is called until it gives nothing more.
template <class T, class Factory>
class GeneratorStage final : public Stage<T> {
 public:
  GeneratorStage(Factory factory, Cardinality cardinality) : factory_(std::move(factory)), cardinality_(cardinality) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& /*start*/) const override {
    return std::make_unique<Calls>(factory_());
  }
  [[nodiscard]] PipelineFacts facts() const override { return {.cardinality = cardinality_, .may_fail = true}; }

 private:
  using Function = decltype(std::declval<const Factory&>()());
  class Calls final : public Cursor<T> {
   public:
    explicit Calls(Function function) : function_(std::move(function)) {}
    std::optional<T> next() override {
      if (ended_) return std::nullopt;
      std::optional<T> element = function_();
      ended_ = !element;
      return element;
    }

   private:
    Function function_;
    bool ended_ = false;
  };

  Factory factory_;
  Cardinality cardinality_;
};

/// What open(file) gives of each file, one file after the other.
template <class T>
class FilesStage final : public Stage<T> {
 public:
  using Open = std::function<std::unique_ptr<Cursor<T>>(const std::string& file)>;
  FilesStage(std::vector<std::string> files, Open open) : files_(std::move(files)), open_(std::move(open)) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override {
    if (start.files.number == 1) return std::make_unique<Contents>(*this, files_);
    return std::make_unique<Contents>(
        *this, shard_files(files_, static_cast<int>(start.files.number), static_cast<int>(start.files.index)));
  }
  [[nodiscard]] PipelineFacts facts() const override { return {.files = files_.size(), .may_fail = true}; }

 private:
  class Contents final : public Cursor<T> {
   public:
    Contents(const FilesStage& stage, std::vector<std::string> files) : stage_(stage), files_(std::move(files)) {}
    std::optional<T> next() override {
      for (;; file_.reset()) {
        if (!file_ && !open_next()) return std::nullopt;
        if (std::optional<T> element = file_->next()) return element;
      }
    }
    std::size_t skip(std::size_t count) override {
      std::size_t skipped = 0;
      for (;; file_.reset()) {
        if (!file_ && !open_next()) return skipped;
        skipped += file_->skip(count - skipped);
        if (skipped == count) return skipped;
      }
    }

   private:
    bool open_next() {
      if (at_ == files_.size()) return false;
      file_ = stage_.open_(files_[at_++]);
      return true;
    }

    const FilesStage& stage_;
    std::vector<std::string> files_;
    std::size_t at_ = 0;
    std::unique_ptr<Cursor<T>> file_;
  };

  std::vector<std::string> files_;
  Open open_;
};

}  // namespace chorus::detail
