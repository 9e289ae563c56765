// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "report.hpp"
#include "table.hpp"

#include <chorus/communicator.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {

/// Elements on pages of their own, as the OSU benchmarks have them.
class Buffer {
 public:
  /// Throws   std::runtime_error where there is no memory.
  Buffer(std::size_t count, bool registered);
  [[nodiscard]] std::span<float> first(std::size_t count) const { return {data_.get(), count}; }

 private:
  struct Free {
    bool registered = false;
    void operator()(float* data) const;
  };
  std::unique_ptr<float[], Free> data_;
};

/// The sizes in bytes that are measured of `row`, for which there is memory for each algorithm. Called by all ranks.
/// Throws   Refusal where the options ask for none that can be measured.
[[nodiscard]] std::vector<std::size_t> sizes_of(const Options& options, const Row& row, int ranks);

/// One collective, with the buffers for its sizes, to be called and checked. Every function is called by all ranks.
class Subject {
 public:
  /// All of them outlive it. Throws   Refusal as `sizes_of`.
  Subject(const Options& options, const Row& row, const Communicator& world, Console& console);

  [[nodiscard]] const Row& row() const noexcept { return row_; }
  /// More ranks than processors on a node.
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }
  [[nodiscard]] std::span<const std::size_t> sizes() const noexcept { return sizes_; }
  /// `algorithm`: a registered name, or "auto". Each has buffers of its own: ranks may read each other's, and whoever
  /// writes there next waits for the lines that they have read.
  [[nodiscard]] Call call_of(std::string_view algorithm, std::size_t bytes);
  /// The one that the library chooses.
  [[nodiscard]] std::string chosen_algorithm(std::size_t bytes);
  /// A point of which nothing was measured yet.
  [[nodiscard]] Point point_of(std::string_view algorithm, std::size_t bytes) const;

  /// Whether the algorithm of `point` can carry out its size, which is noted there with whether the data was right. A
  /// warning says where not.
  [[nodiscard]] bool try_out(const Call& call, Point& point);
  /// Whether the data is right on all ranks; a warning about `side` says where not.
  [[nodiscard]] bool validate(const Call& call, const AnyRun& run, const Point& point, const char* side);
  /// Notes the samples of `point`'s algorithm.
  void note(const Samples& samples, Point& point) const;
  /// As many repetitions as the OSU benchmarks make, in so many seconds at most, unless the user said how many.
  [[nodiscard]] Effort effort(std::size_t bytes, double seconds) const;

 private:
  const Options& options_;
  const Row& row_;
  Communicator world_;
  Console& console_;
  std::vector<std::size_t> sizes_;
  bool crowded_;
  struct Buffers {
    Buffer in, out;
  };
  std::map<std::string, Buffers, std::less<>> buffers_;  // by algorithm
};

}  // namespace chorus::bench
