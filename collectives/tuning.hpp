// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/tuning_file.hpp"
#include "link_model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// What is known of the machine: its LinkModel and, where algorithms were measured, their times.
///
/// A tuning file is JSON: {"schema": 1, "machine": {...}, "links": {...}, "measured": [{...}, ...]}. `machine` says
/// where it holds; `links` has the names of LinkModel, those left out stay as they are; an entry of `measured` is a
/// line that `chorus-bench --json` writes.
struct Tuning {
  /// Where it was measured; what is not known is empty or 0.
  struct Machine {
    Site site;
    int nodes = 0;
    int ranks = 0;
    int ranks_per_node = 0;       ///< on the fullest
    std::optional<bool> crowded;  ///< a machine had more ranks than cores: `links` hold where that is so again
  };
  struct Measured {
    Collective collective = Collective::barrier;
    std::string algorithm;
    int ranks = 0;
    int nodes = 0;
    int ranks_per_node = 0;  ///< on the fullest
    std::size_t bytes = 0;   ///< as chorus-bench counts them
    double median_us = 0;
  };
  LinkModel links;
  std::vector<Measured> measured;
  Machine machine;

  /// Reads `text`: what it does not say is as in `links`, which are those of ranks that are `crowded` or not.
  /// Throws Error{invalid_environment} naming line and column, or the entry, the unknown name and the nearest known.
  [[nodiscard]] static Tuning parse(const std::string& text, const LinkModel& links = {}, bool crowded = false);
  /// The text of a tuning file that says all of it, but for what is built in.
  [[nodiscard]] std::string to_json() const;

  /// The measured time of `algorithm` for `problem`: at the nearest measured size within a factor of two; none where
  /// that size was not measured, or not on as many ranks on as many nodes.
  [[nodiscard]] std::optional<double> microseconds(const Problem& problem, std::string_view algorithm) const;
};

}  // namespace chorus
