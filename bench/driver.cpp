// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include "algorithm_names.hpp"
#include "crowding.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "report.hpp"

#include <chorus/barrier.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

namespace chorus::bench {
namespace {

// Elements on pages of their own, as the OSU benchmarks have them.
class Buffer {
 public:
  explicit Buffer(std::size_t count) {
    constexpr std::size_t page = 4096;
    const std::size_t bytes = (count * sizeof(float) + page) / page * page;
    data_.reset(static_cast<float*>(std::aligned_alloc(page, bytes)));
    if (!data_) {
      throw std::runtime_error(fmt::format("-m: no memory for a buffer of {} bytes; give a smaller MAX", bytes));
    }
  }
  [[nodiscard]] std::span<float> first(std::size_t count) const { return {data_.get(), count}; }

 private:
  struct Free {
    void operator()(float* data) const { std::free(data); }
  };
  std::unique_ptr<float[], Free> data_;
};

bool on_all_ranks(bool here) {
  int all = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

/// The largest size whose buffers fit into the memory of every rank.
std::size_t largest_size(const Row& row, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);  // the least input of whole elements for every row
  const Lengths lengths = row.lengths(count, count);
  return memory_per_rank() / (lengths.in + lengths.out) * count;
}

std::vector<std::size_t> sizes_of(const Options& options, const Row& row, int ranks) {
  if (!row.has_size) return {0};
  std::vector<std::size_t> sizes;
  for (const std::size_t wanted : doubling_sizes(options.sizes)) {
    const std::size_t size = fitting_size(row, wanted, ranks);
    if (size != 0 || wanted == 0) sizes.push_back(size);
  }
  if (sizes.empty()) {
    throw Refusal(
        fmt::format("-m: {} bytes are less than one float32 for each of the {} ranks", options.sizes.max, ranks));
  }
  if (const std::size_t limit = largest_size(row, ranks); sizes.back() > limit) {
    throw Refusal(
        fmt::format("-m: {} bytes are too many: a rank's share of the memory holds the buffers of {} for up to {} "
                    "bytes; give a smaller MAX, or spread the ranks over more nodes",
                    sizes.back(), row.name, limit));
  }
  if (options.compare && sizes.back() / sizeof(float) > std::numeric_limits<int>::max()) {
    throw Refusal("--compare: MPI counts no more than 2^31 - 1 elements, 8 GiB");
  }
  return sizes;
}

/// Measures one collective.
class Driver {
 public:
  Driver(const Options& options, const Row& row, const Communicator& world, Outputs& outputs);
  /// Throws   Refusal where none of the calls can be carried out by the algorithm that the user named.
  void require_the_algorithm();
  void run();

 private:
  void run_table(std::string_view algorithm);
  [[nodiscard]] Call call_of(std::string_view algorithm, std::size_t bytes) const;
  Point measure(std::string_view algorithm, std::size_t bytes);
  void measure_times(const Call& call, Point& point);
  [[nodiscard]] bool validate(const Call& call, Run run, const Point& point, const char* side);
  [[nodiscard]] Effort effort(std::size_t bytes, double seconds) const;
  void say(const std::string& text);
  void warn(const std::string& text);

  const Options& options_;
  const Row& row_;
  Communicator world_;
  Outputs& outputs_;
  std::vector<std::size_t> sizes_;
  Buffer in_, out_;
  bool crowded_ = ranks_share_processors();
  Progress progress_;
  std::size_t done_ = 0, to_do_ = 0;
};

Lengths longest(const Row& row, const std::vector<std::size_t>& sizes, int ranks) {
  return row.lengths(sizes.back() / sizeof(float), static_cast<std::size_t>(ranks));
}

Driver::Driver(const Options& options, const Row& row, const Communicator& world, Outputs& outputs)
    : options_(options),
      row_(row),
      world_(world),
      outputs_(outputs),
      sizes_(sizes_of(options, row, world.size())),
      in_(longest(row_, sizes_, world.size()).in),
      out_(longest(row_, sizes_, world.size()).out),
      progress_(world.rank() == 0) {}

void Driver::say(const std::string& text) {
  progress_.clear();
  if (world_.rank() != 0) return;
  fmt::print("{}", text);
  std::fflush(stdout);
}

void Driver::warn(const std::string& text) {
  progress_.clear();
  if (world_.rank() == 0) fmt::print(stderr, "chorus-bench: {}\n", text);
}

void Driver::require_the_algorithm() {
  std::string refusal;
  for (const std::size_t bytes : sizes_) {
    try {
      static_cast<void>(row_.validate(call_of(options_.algorithm, bytes), row_.chorus));
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_supported) throw;
      refusal = error.message();
    }
  }
  throw Refusal(fmt::format("--algorithm {}: {}", options_.algorithm, refusal));
}

void Driver::run() {
  const std::vector<std::string_view> algorithms =
      options_.algorithm == "all" ? algorithm_names(row_.name) : std::vector<std::string_view>{options_.algorithm};
  to_do_ = algorithms.size() * sizes_.size();
  for (const std::string_view algorithm : algorithms) run_table(algorithm);
}

void Driver::run_table(std::string_view algorithm) {
  const TableForm form = {.title = std::string(row_.title) + (options_.reproducible ? " (reproducible)" : ""),
                          .algorithm = std::string(algorithm),
                          .ranks = world_.size(),
                          .has_size = row_.has_size,
                          .full = options_.full,
                          .check = options_.check,
                          .compare = options_.compare,
                          .crowded = crowded_};
  const std::size_t first = outputs_.points().size();
  say(heading(form));
  for (const std::size_t bytes : sizes_) {
    progress_.show(fmt::format("{} {}: {} bytes ({} of {})", row_.name, algorithm, bytes, ++done_, to_do_));
    const Point point = measure(algorithm, bytes);
    say(line(form, point));
    outputs_.record(point);
  }
  say(summary(std::span(outputs_.points()).subspan(first)));
}

Call Driver::call_of(std::string_view algorithm, std::size_t bytes) const {
  const auto ranks = static_cast<std::size_t>(world_.size());
  const Lengths lengths = row_.lengths(bytes / sizeof(float), ranks);
  Call call = {.world = world_, .in = in_.first(lengths.in), .out = out_.first(lengths.out), .options = {}};
  call.options.reproducible = options_.reproducible;
  if (algorithm != "auto") call.options.algorithm = algorithm;
  return call;
}

Point Driver::measure(std::string_view algorithm, std::size_t bytes) {
  const Call call = call_of(algorithm, bytes);
  Point point = {.collective = std::string(row_.name),
                 .algorithm = std::string(algorithm),
                 .ranks = world_.size(),
                 .bytes = bytes};
  try {
    point.valid = validate(call, row_.chorus, point, "chorus");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_supported) throw;
    point.applies = false;
    return point;
  }
  if (options_.compare) point.valid &= validate(call, row_.native, point, "MPI");
  measure_times(call, point);
  if (options_.check) point.valid &= validate(call, row_.chorus, point, "chorus after the timing");
  return point;
}

void Driver::measure_times(const Call& call, Point& point) {
  const double seconds = options_.compare ? 1 : 0.5;
  if (!options_.compare) point.osu = measure_osu_latency(call, row_.chorus, effort(point.bytes, seconds));
  std::vector<Run> runs = {row_.chorus};
  if (options_.compare) runs.push_back(row_.native);
  const std::vector<Samples> sides = measure_interleaved(call, runs, effort(point.bytes, seconds));

  point.us = quartiles(sides[0].us);
  point.iterations = sides[0].us.size();
  point.calls_per_iteration = sides[0].calls;
  point.busbw_mb_s = static_cast<double>(point.bytes) * row_.bus_factor(world_.size()) / point.us.median;
  if (!options_.compare) return;
  point.comparison = {.native_us = quartiles(sides[1].us), .ratio = {}};
  constexpr std::uint64_t seed = 1;  // who runs it again on the same samples gets the same interval
  if (world_.rank() == 0) point.comparison->ratio = ratio_of_medians(sides[0].us, sides[1].us, seed);
}

bool Driver::validate(const Call& call, Run run, const Point& point, const char* side) {
  const bool right = on_all_ranks(row_.validate(call, run));
  if (!right) {
    const std::string size = row_.has_size ? fmt::format(" of {} bytes", point.bytes) : "";
    warn(fmt::format("{} {}{}: wrong result of {}", row_.name, point.algorithm, size, side));
  }
  return right;
}

// As many repetitions as the OSU benchmarks make, unless the user said how many.
Effort Driver::effort(std::size_t bytes, double seconds) const {
  constexpr std::size_t largest_small = 8192;
  const bool small = bytes <= largest_small;
  Effort effort = {.repetitions = options_.iterations.value_or(small ? 10000 : 1000),
                   .warmup = options_.warmup.value_or(small ? 200 : 10),
                   .limit = {}};
  if (!options_.iterations) effort.limit = std::chrono::duration<double>(seconds);
  return effort;
}

}  // namespace

bool run_benchmark(const Options& options, const Communicator& world) {
  for (const Row& row : options.rows) static_cast<void>(sizes_of(options, row, world.size()));
  Outputs outputs(options, world.rank());
  barrier(world);  // finds what is wrong with the environment before anything is printed
  for (const Row& row : options.rows) {
    Driver driver(options, row, world, outputs);
    if (options.rows.size() == 1 && options.algorithm != "all") driver.require_the_algorithm();
    driver.run();
  }
  outputs.draw();
  return std::ranges::all_of(outputs.points(), [](const Point& point) { return point.valid || !point.applies; });
}

}  // namespace chorus::bench
