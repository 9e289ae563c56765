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

/// How many sizes of how many collectives `options` ask for. Throws   bench::Refusal where one cannot be measured.
[[nodiscard]] std::size_t count_of(const TuneOptions& options, int ranks);

/// Measures every algorithm of each, and judges what the library chooses by a tuning file of `text` and without; prints
/// a line for each. Called by all ranks of `world`.
[[nodiscard]] Sample measure_sample(const TuneOptions& options, const std::string& text, const Communicator& world,
                                    bench::Console& console);

}  // namespace chorus::tune
