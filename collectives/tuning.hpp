// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link_model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace chorus {

/// What is known of the machine: its LinkModel and, where algorithms were measured, their times.
///
/// A tuning file is JSON: {"schema": 1, "links": {...}, "measured": [{...}, ...]}. `links` has the names of LinkModel,
/// those left out stay as they are; an entry of `measured` is a line that `chorus-bench --json` writes.
struct Tuning {
  struct Measured {
    Collective collective = Collective::barrier;
    std::string algorithm;
    int ranks = 0;
    std::size_t bytes = 0;  ///< as chorus-bench counts them
    double median_us = 0;
  };
  LinkModel links;
  std::vector<Measured> measured;

  /// Reads the text of a tuning file: what it does not say is as in `links`.
  /// Throws Error{invalid_environment} naming line and column, or the entry, the unknown name and the nearest known.
  [[nodiscard]] static Tuning parse(const std::string& text, const LinkModel& links = {});

  /// The measured time of `algorithm` for `problem`: at the nearest measured size within a factor of two; none where
  /// that rank count or size was not measured.
  [[nodiscard]] std::optional<double> microseconds(const Problem& problem, std::string_view algorithm) const;
};

/// A tuning file beside the machine as it was measured in this run, and beside the built-in model.
class Tunings {
 public:
  /// Reads the text of a tuning file; throws as Tuning::parse.
  Tunings(const std::string& text, const Pace& pace, bool crowded)
      : measured_(Tuning::parse(text, LinkModel::of(pace, crowded))),
        built_in_(Tuning::parse(text, LinkModel::of({}, crowded))) {}

  /// What the algorithm of `call` is chosen by: for a deterministic one nothing that another run would measure anew.
  [[nodiscard]] const Tuning& of(const Call& call) const noexcept {
    return call.repeatability == Repeatability::deterministic ? built_in_ : measured_;
  }

 private:
  Tuning measured_;
  Tuning built_in_;
};

}  // namespace chorus
