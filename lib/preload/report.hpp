// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/paths.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace chorus::preload {

/// What CHORUS_REPORT=1 prints at MPI_Finalize: the calls of this process, which way they went, and their time.
class Report {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] static Report& get() noexcept;
  /// False until the environment has been read.
  [[nodiscard]] static bool wanted() noexcept { return wanted_; }
  static void read_environment() noexcept;
  void add(const Offer& offer, Clock::duration time) noexcept;
  /// As rank 0 of `ranks`, on the standard error stream, where it is wanted.
  void print(int ranks) const;

 private:
  struct Row {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> nanoseconds{0};
  };

  static inline constinit bool wanted_ = false;
  std::array<std::array<Row, path_count>, collective_count> rows_;
};

/// The time until it ends, other than by an exception, goes into the report as that of one call; costs a look at a flag
/// where there is none.
class Reported {
 public:
  explicit Reported(const Offer& offer) noexcept : offer_(offer) {
    if (Report::wanted()) began_ = Report::Clock::now();
  }
  Reported(const Reported&) = delete;
  Reported& operator=(const Reported&) = delete;
  ~Reported() {
    if (Report::wanted() && std::uncaught_exceptions() == 0) Report::get().add(offer_, Report::Clock::now() - began_);
  }

 private:
  const Offer& offer_;
  Report::Clock::time_point began_{};
};

}  // namespace chorus::preload
