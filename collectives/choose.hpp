// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "tuning.hpp"

#include <chorus/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// Who may name an algorithm, in the order of their authority.
struct Wishes {
  std::string_view option;       ///< CollectiveOptions::algorithm; empty: none
  std::string_view environment;  ///< CHORUS_<COLLECTIVE>; empty: none
  /// Why the devices' vendor connects no ranks, for the refusal of its algorithm; null where it does, or is not asked.
  const Error* no_device_native = nullptr;
};

/// An algorithm as a candidate for a problem.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  bool applies = false;
  double predicted_us = 0;            ///< by the model, where it applies
  std::optional<double> measured_us;  ///< from the tuning file
};

/// The candidates for a problem, the one that is taken, and why.
struct Choice {
  std::vector<Candidate> candidates;
  const Algorithm* algorithm = nullptr;
  std::string reason;
  bool passed_over = false;  ///< the environment names one that does not apply
};

/// The time of `algorithm`, which applies, by the model; for algorithms driven as tasks with what that costs, and for
/// the vendor's most often with as much.
[[nodiscard]] double predicted_us(const Algorithm& algorithm, const Problem& problem, const LinkModel& links);

/// The fastest algorithm by the model. For the phases of an algorithm that is made of others; allocates nothing.
[[nodiscard]] const Algorithm& fastest(const Problem& problem, const LinkModel& links);

/// Chooses by what is equal on all ranks alone, so that no two choose apart. The option is obeyed or refused; the
/// environment is obeyed where its algorithm applies; then the fastest by measurement if there are measurements, or by
/// the model, of those that need not be named.
/// Throws Error{invalid_argument} for an option that names no algorithm, Error{not_supported} for one that does not
/// apply, or Error{not_built} where the library lacks it, Error{invalid_environment} for a variable that names no
/// algorithm.
[[nodiscard]] Choice choose(const Problem& problem, const Wishes& wishes, const Tuning& tuning);

}  // namespace chorus
