// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"
#include "tune_options.hpp"
#include "tune_report.hpp"

#include <chorus/communicator.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace chorus::tune {

/// What was measured of algorithms.
struct Sample {
  std::vector<Verdict> verdicts;
  std::vector<Tuning::Measured> measured;
  bool valid = true;  ///< all data was right
};

/// Of `sizes` those with which the vectors of a rank do not become so long that calls take long.
[[nodiscard]] bench::SizeRange sizes_of_sample(const bench::Row& row, bench::SizeRange sizes, int ranks);

/// Where the user has named no sizes, takes those out of `options` that the ranks have no memory for, and of a sample
/// those that take long. Called by all ranks. Throws   bench::Refusal where nothing is left.
void fit_sizes(TuneOptions& options, int ranks);

/// How many sizes of how many collectives `options` ask for. Throws   bench::Refusal where one cannot be measured.
[[nodiscard]] std::size_t count_of(const TuneOptions& options, int ranks);

/// Measures every algorithm of each, and judges what the library chooses by a tuning file of `text` and without; prints
/// a line for each. A sample ends within a minute, but for the size that is being measured then, unless the user has
/// said how many repetitions there are to be. Called by all ranks of `world`.
[[nodiscard]] Sample measure_sample(const TuneOptions& options, const std::string& text, const Communicator& world,
                                    bench::Console& console);

}  // namespace chorus::tune
