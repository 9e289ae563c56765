// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "survey.hpp"

namespace chorus::info {

/// A place of a machine as it is shown: a line of the text, a box of the picture.
struct Spot {
  /// Objects with the same PUs, from the outside in, that are shown as one: a package and its only L3, a core with its
  /// own caches and its only PU. Never empty.
  std::vector<const Topology::Object*> objects;
  std::vector<const Topology::Object*> memories;  ///< NUMA domains beside them
  std::vector<const Topology::Object*> devices;
  std::vector<Spot> children;
  PuSet pus;
  PuSet forbidden;         ///< of these, those the job may not use
  std::vector<int> ranks;  ///< ranks whose binding fits here, but in no child; on the machine also those not bound
  int most_ranks = 0;      ///< the most ranks that any one host has here, those of the children included
  bool overfull = false;   ///< that is more than there are PUs to use, and so it is in no child

  /// Whether this is a core, or a PU outside or inside a core.
  [[nodiscard]] bool is_core() const noexcept;
  [[nodiscard]] bool is_pu() const noexcept;
};

/// The machine with the ranks of its hosts on it. It points into `machine`.
[[nodiscard]] Spot plan_of(const Survey& survey, const Machine& machine);

}  // namespace chorus::info
