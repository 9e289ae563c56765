// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/detail/stage.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Numbers at random, the same on every machine: std::mt19937_64 is defined to the bit, the standard's distributions
/// and std::shuffle are not.
class RandomNumbers {
 public:
  RandomNumbers(std::uint64_t seed, std::uint64_t epoch) : engine_(mixed(seed + mixed(epoch))) {}

  /// One of 0 to bound - 1, all equally likely; `bound` is above 0.
  std::size_t below(std::size_t bound) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t last = most - (most % bound + 1) % bound;  // last + 1 is a multiple of bound
    std::uint64_t drawn = engine_();
    while (drawn > last) drawn = engine_();
    return drawn % bound;
  }

 private:
  /// SplitMix64 (Steele, Lea and Flood, 2014): neighbouring seeds and epochs give unlike orders.
  static constexpr std::uint64_t mixed(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
  }

  std::mt19937_64 engine_;
};

/// Each time one of the next `buffer` elements at random: Fisher and Yates's shuffle where the buffer holds all of
/// them.
template <class T>
class ShuffleStage final : public Stage<T> {
 public:
  struct Order {
    std::size_t buffer;
    std::uint64_t seed;
    bool each_epoch;
  };
  ShuffleStage(StagePointer<T> input, const Order& order) : input_(std::move(input)), order_(order) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override {
    const RandomNumbers random(order_.seed, order_.each_epoch ? start.epoch : 0);
    return std::make_unique<Shuffled>(input_->start(start), order_.buffer, random);
  }
  [[nodiscard]] PipelineFacts facts() const override {
    PipelineFacts facts = input_->facts();
    for (const std::uint64_t number : {std::uint64_t{order_.buffer}, order_.seed, std::uint64_t{order_.each_epoch}}) {
      facts.order = mixed(facts.order, number);
    }
    return facts;
  }

 private:
  class Shuffled final : public Cursor<T> {
   public:
    Shuffled(std::unique_ptr<Cursor<T>> input, std::size_t most, const RandomNumbers& random)
        : input_(std::move(input)), most_(most), random_(random) {}
    std::optional<T> next() override {
      while (more_ && buffer_.size() < most_) {
        std::optional<T> element = input_->next();
        more_ = element.has_value();
        if (more_) buffer_.push_back(std::move(*element));
      }
      if (buffer_.empty()) return std::nullopt;
      std::swap(buffer_[random_.below(buffer_.size())], buffer_.back());
      std::optional<T> drawn(std::move(buffer_.back()));
      buffer_.pop_back();
      return drawn;
    }

   private:
    std::unique_ptr<Cursor<T>> input_;
    std::size_t most_;
    RandomNumbers random_;
    std::vector<T> buffer_;
    bool more_ = true;
  };

  StagePointer<T> input_;
  Order order_;
};

}  // namespace chorus::detail
