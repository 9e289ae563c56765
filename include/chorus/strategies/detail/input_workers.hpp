// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/strategies/strategy_call.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace chorus::detail {

/// The workers that an input is for, and what they tell each other.
class CHORUS_API InputWorkers {
 public:
  /// Calls `body` with a communicator whose ranks are the workers, for a part of `function`. Called by all of them.
  using Meet = std::function<void(StrategyFunction function, const std::function<void(const Communicator&)>& body)>;

  /// This one alone.
  InputWorkers() = default;
  InputWorkers(std::nullopt_t /*none*/) {}  // NOLINT(google-explicit-constructor)
  /// The ranks of a communicator, implicitly: it is what users give.
  InputWorkers(const Communicator& workers);                 // NOLINT(google-explicit-constructor)
  InputWorkers(const std::optional<Communicator>& workers);  // NOLINT(google-explicit-constructor)
  /// So many, of which this is number `rank`, and which wait for each other for `timeout`; zero: CHORUS_TIMEOUT.
  InputWorkers(int size, int rank, Meet meet, std::chrono::nanoseconds timeout = {});

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] bool alone() const noexcept { return size_ == 1; }

  // Each is called by all workers.

  /// The numbers of all, one worker after the other; as many of each.
  [[nodiscard]] std::vector<std::int64_t> gather(const std::vector<std::int64_t>& own) const;
  /// Their sums.
  void add(std::span<std::int64_t> numbers) const;
  /// "worker 1 <what>: <its failure>" of each worker whose failure is not empty, for a part of `function`.
  [[nodiscard]] std::string failures(StrategyFunction function, const std::string& own, const std::string& what) const;

 private:
  int size_ = 1;
  int rank_ = 0;
  Meet meet_;
  CollectiveOptions options_;
};

}  // namespace chorus::detail
