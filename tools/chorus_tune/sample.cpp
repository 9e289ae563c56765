// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

#include "algorithm_names.hpp"
#include "base/names.hpp"
#include "chosen.hpp"
#include "entrants.hpp"
#include "subject.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/bcast.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace chorus::tune {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20U;  // of a rank's vectors in a sample
constexpr double seconds_of_sample = 40;                    // of all that is measured
constexpr double most_seconds = 50;                         // of a sample, whatever a single call takes
constexpr double seconds_each = 0.25;                       // of an algorithm, where everything is measured
constexpr double warm_up_and_all = 3.5;                     // times the seconds that are said to be enough

/// The sizes that are measured: of a sample every second, so that it ranges farther.
std::vector<std::size_t> sizes_in(const bench::Options& subject, bool exhaustive, int ranks) {
  std::vector<std::size_t> sizes = bench::sizes_of(subject, subject.rows[0], ranks);
  if (exhaustive) return sizes;
  std::vector<std::size_t> some;
  for (std::size_t index = 0; index < sizes.size(); index += 2) some.push_back(sizes[index]);
  return some;
}

bool can_be_measured(const bench::Options& subject, int ranks) {
  try {
    return !bench::sizes_of(subject, subject.rows[0], ranks).empty();
  } catch (const bench::Refusal&) {
    return false;
  }
}

std::size_t bytes_of_vectors(const bench::Row& row, std::size_t bytes, int ranks) {
  const bench::Lengths lengths = row.lengths(bytes / sizeof(float), static_cast<std::size_t>(ranks));
  return (lengths.in + lengths.out) * sizeof(float);
}

class Sampling {
 public:
  Sampling(const TuneOptions& options, const std::string& text, const Communicator& world, bench::Console& console)
      : options_(options), world_(world), console_(console) {
    detail::CommunicatorState& state = world_.state();
    const TuningFile file = {.path = {}, .text = text, .installed = false, .here = {}};
    with_file_ = std::make_shared<const Tunings>(file, state.pace(), NetworkPace(), state.crowded());
  }

  Sample run() {
    for (const bench::Options& subject : options_.subjects) {
      if (!measure(subject)) break;
    }
    choose_by(world_.state(), nullptr);
    return std::move(sample_);
  }

 private:
  /// False where the time is over.
  bool measure(const bench::Options& options) {
    const bench::Row& row = options.rows[0];
    bench::Subject subject(options, row, world_, console_);
    for (const std::size_t bytes : sizes_in(options, options_.exhaustive, world_.size())) {
      if (is_over(options)) {
        console_.say("# The rest is left out: calls take long here, and the minute is over.\n");
        return false;
      }
      console_.show(row.has_size ? fmt::format("{} of {} bytes", row.name, bytes) : std::string(row.name));
      choose_by(world_.state(), with_file_);  // hierarchical ones choose their phases so
      const std::vector<bench::Entrant> entrants = bench::measure_all(subject, bytes, seconds_for(row));
      judge(subject, bytes, entrants);
      note(row, entrants);
    }
    return true;
  }

  /// By the clock of rank 0. Something is measured always.
  [[nodiscard]] bool is_over(const bench::Options& options) {
    if (options_.exhaustive || options.iterations || sample_.verdicts.empty()) return false;
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - began_;
    int over = since.count() > most_seconds ? 1 : 0;
    bcast(world_, std::span(&over, 1), 0);
    return over == 1;
  }

  /// For each algorithm of `row` and a size.
  [[nodiscard]] double seconds_for(const bench::Row& row) const {
    if (options_.exhaustive) return seconds_each;
    const auto algorithms = static_cast<double>(bench::algorithm_names(row.name).size());
    return seconds_of_sample / (static_cast<double>(count_of(options_, world_.size())) * warm_up_and_all * algorithms);
  }

  void judge(bench::Subject& subject, std::size_t bytes, const std::vector<bench::Entrant>& entrants) {
    choose_by(world_.state(), nullptr);
    const std::string without = subject.chosen_algorithm(bytes);
    choose_by(world_.state(), with_file_);
    const std::string with_file = subject.chosen_algorithm(bytes);
    sample_.verdicts.push_back(
        {bench::regret_of(subject.row(), entrants, with_file), bench::regret_of(subject.row(), entrants, without)});
    console_.say(verdict_line(sample_.verdicts.back()));
  }

  void note(const bench::Row& row, const std::vector<bench::Entrant>& entrants) {
    for (const bench::Entrant& entrant : entrants) {
      const bench::Point& point = entrant.point;
      sample_.valid = sample_.valid && point.valid;
      if (!options_.exhaustive) continue;
      sample_.measured.push_back({.collective = collective_named(row.name).value(),
                                  .algorithm = point.algorithm,
                                  .ranks = point.ranks,
                                  .nodes = point.nodes,
                                  .ranks_per_node = point.ranks_per_node,
                                  .bytes = point.bytes,
                                  .median_us = point.us.median});
    }
  }

  const TuneOptions& options_;
  Communicator world_;
  bench::Console& console_;
  std::shared_ptr<const Tunings> with_file_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Sample sample_;
};

}  // namespace

bench::SizeRange sizes_of_sample(const bench::Row& row, bench::SizeRange sizes, int ranks) {
  while (sizes.max > sizeof(float) && bytes_of_vectors(row, sizes.max, ranks) > most_bytes) sizes.max /= 2;
  return {.min = std::min(sizes.min, sizes.max), .max = sizes.max};
}

void fit_sizes(TuneOptions& options, int ranks) {
  if (options.sizes_named) return;
  std::erase_if(options.subjects, [&](bench::Options& subject) {
    bench::SizeRange& sizes = subject.sizes;
    if (!options.exhaustive) sizes = sizes_of_sample(subject.rows[0], sizes, ranks);
    while (sizes.max >= sizeof(float) && !can_be_measured(subject, ranks)) {
      sizes.max /= 2;
      sizes.min = std::min(sizes.min, sizes.max);
    }
    return sizes.max < sizeof(float);
  });
  if (options.subjects.empty())
    throw bench::Refusal("the ranks have no memory for any size; spread them over more nodes");
}

std::size_t count_of(const TuneOptions& options, int ranks) {
  std::size_t count = 0;
  for (const bench::Options& subject : options.subjects) {
    count += sizes_in(subject, options.exhaustive, ranks).size();
  }
  return count;
}

Sample measure_sample(const TuneOptions& options, const std::string& text, const Communicator& world,
                      bench::Console& console) {
  return Sampling(options, text, world, console).run();
}

}  // namespace chorus::tune
