// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include "algorithm_names.hpp"
#include "console.hpp"
#include "floor.hpp"
#include "outputs.hpp"
#include "overlap.hpp"
#include "rank_device.hpp"
#include "regret.hpp"
#include "report.hpp"
#include "strategies.hpp"
#include "subject.hpp"

#include <chorus/barrier.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {
namespace {

/// Measures one collective, by one algorithm or by each.
class LatencyTables {
 public:
  LatencyTables(const Options& options, const Row& row, const Communicator& world, Outputs& outputs);
  /// Throws   Refusal where none of the calls can be carried out by the algorithm that the user named.
  void require_the_algorithm();
  void run();

 private:
  void run_table(std::string_view algorithm);
  Point measure(std::string_view algorithm, std::size_t bytes);
  void measure_times(const Call& call, Point& point);

  const Options& options_;
  Communicator world_;
  Outputs& outputs_;
  std::vector<std::string_view> algorithms_;
  Console console_;
  Subject subject_;
};

std::vector<std::string_view> asked_algorithms(const Options& options, const Row& row) {
  if (options.algorithm != "all") return {options.algorithm};
  return algorithm_names(row.name, place_of(options.memory));
}

LatencyTables::LatencyTables(const Options& options, const Row& row, const Communicator& world, Outputs& outputs)
    : options_(options),
      world_(world),
      outputs_(outputs),
      algorithms_(asked_algorithms(options, row)),
      console_(world.rank(), algorithms_.size() * sizes_of(options, row, world.size()).size()),
      subject_(options, row, world, console_) {}

void LatencyTables::require_the_algorithm() {
  std::string refusal;
  for (const std::size_t bytes : subject_.sizes()) {
    try {
      static_cast<void>(subject_.is_right(subject_.call_of(options_.algorithm, bytes), subject_.run()));
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_supported) throw;
      refusal = error.message();
    }
  }
  throw Refusal(fmt::format("--algorithm {} does not apply to any of these sizes: {}", options_.algorithm, refusal));
}

void LatencyTables::run() {
  for (const std::string_view algorithm : algorithms_) run_table(algorithm);
}

void LatencyTables::run_table(std::string_view algorithm) {
  const Row& row = subject_.row();
  const TableForm form = {.title = std::string(row.title) + (options_.reproducible ? " (reproducible)" : ""),
                          .algorithm = std::string(algorithm),
                          .ranks = world_.size(),
                          .has_size = row.has_size,
                          .full = options_.full,
                          .check = options_.check,
                          .compare = options_.compare.has_value(),
                          .crowded = subject_.crowded(),
                          .peer = options_.compare.value_or(Peer::mpi),
                          .device = std::string(subject_.device())};
  const std::size_t first = outputs_.points().size();
  console_.say(heading(form));
  for (const std::size_t bytes : subject_.sizes()) {
    console_.show(fmt::format("{} {}: {} bytes", row.name, algorithm, bytes));
    const Point point = measure(algorithm, bytes);
    console_.say(line(form, point));
    outputs_.record(point);
  }
  console_.say(summary(std::span(outputs_.points()).subspan(first)));
}

Point LatencyTables::measure(std::string_view algorithm, std::size_t bytes) {
  const Call call = subject_.call_of(algorithm, bytes);
  Point point = subject_.point_of(algorithm, bytes);
  if (!subject_.try_out(call, point)) return point;
  if (options_.compare) {
    const Call of_peer = subject_.peer_call(bytes);
    point.valid &= subject_.validate(of_peer, subject_.peer_run(), point, names_of(*options_.compare).heading);
  }
  measure_times(call, point);
  if (options_.check) point.valid &= subject_.validate(call, subject_.run(), point, "chorus after the timing");
  return point;
}

void LatencyTables::measure_times(const Call& call, Point& point) {
  const Effort effort = subject_.effort(point.bytes, options_.compare ? 1 : 0.5);
  if (!options_.compare) point.osu = measure_osu_latency(call, subject_.run(), effort);
  std::vector<Side> sides = {{{call}, subject_.run()}};
  if (options_.compare) sides.push_back({{subject_.peer_call(point.bytes)}, subject_.peer_run()});
  const std::vector<Samples> samples = measure_interleaved(sides, effort);

  subject_.note(samples[0], point);
  if (!options_.compare) return;
  point.comparison = {.peer_us = quartiles(samples[1].us), .ratio = {}, .peer = *options_.compare};
  if (world_.rank() == 0) point.comparison->ratio = ratio_of_medians(samples[0].us, samples[1].us);
}

void run_latency(const Options& options, const Communicator& world, Outputs& outputs) {
  for (const Row& row : options.rows) {
    LatencyTables tables(options, row, world, outputs);
    if (options.rows.size() == 1 && options.algorithm != "all") tables.require_the_algorithm();
    tables.run();
  }
}

/// Of the collectives that are asked for those that can have a size of the options; one that is named alone must.
struct Measurable {
  /// Throws   Refusal where there is none whose size counts.
  Measurable(const Options& options, int ranks);

  std::vector<Row> rows;
  std::string notes;  ///< a line for each that is left out
};

Measurable::Measurable(const Options& options, int ranks) {
  std::string refusal;
  bool any_with_size = false;
  for (const Row& row : options.rows) {
    try {
      static_cast<void>(sizes_of(options, row, ranks));
      rows.push_back(row);
      any_with_size |= row.has_size;
    } catch (const Refusal& error) {
      if (refusal.empty()) refusal = error.what();
      notes += fmt::format("# {} is left out: {}\n", row.name, error.what());
    }
  }
  if (!any_with_size && !refusal.empty()) throw Refusal(refusal);
}

}  // namespace

bool run_benchmark(const Options& asked, const Communicator& world) {
  const Measurable measurable(asked, world.size());
  Options options = asked;
  options.rows = measurable.rows;
  Outputs outputs(options, world.rank());
  barrier(world);  // finds what is wrong with the environment before anything is printed
  if (options.memory == Memory::device) take_devices(options, world);
  if (world.rank() == 0 && !options.note.empty()) fmt::print("# {}\n", options.note);
  if (world.rank() == 0) fmt::print("{}", measurable.notes);
  switch (options.measurement) {
    case Measurement::latency:
      run_latency(options, world, outputs);
      break;
    case Measurement::regret:
      run_regret(options, world, outputs);
      break;
    case Measurement::floor:
      run_floor(options, world, outputs);
      break;
    case Measurement::overlap:
      run_overlap(options, world, outputs);
      break;
    case Measurement::strategies:
      return run_strategies(options, world);
  }
  outputs.draw();
  return std::ranges::all_of(outputs.points(), [](const Point& point) { return point.valid || !point.applies; });
}

}  // namespace chorus::bench
