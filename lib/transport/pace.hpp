// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/kernels.hpp"
#include "task/task.hpp"

#include <vector>

namespace chorus {

class SharedGroup;
class Transport;

/// How fast the ranks of a node pass data to each other through shared memory: in megabytes (10^6 bytes) a second and
/// rank, written and read. Zero: not measured.
///
/// Which way of writing is faster depends on how far the cores are from each other. Where they share a cache, plain
/// stores leave the data in it, as where they share a core; where they do not, plain stores wait for lines that the
/// other core holds, and streamed ones do not.
struct Pace {
  double cached = 0;
  double streamed = 0;
  double alone = 0;        ///< of one rank that reads while no other does; 0 also of two ranks, or one
  double system = 0;       ///< read by the system from another rank's own memory; 0 also where it forbids that
  double system_long = 0;  ///< the same of blocks that a core's own caches do not hold
  double system_us = 0;    ///< what each such reading takes besides, in microseconds
  double round_us = 0;     ///< for each rank, of a round of all; only where a machine has more ranks than cores
  // Where a machine has more ranks than cores, of the fullest:
  float ranks_of_core = 1;  ///< ranks over cores
  float nodes_of_core = 1;  ///< groups of ranks that share memory, containers say, over cores; 1 also of fewer

  /// Of ranks on cores of their own.
  [[nodiscard]] bool known() const noexcept { return cached > 0 && round_us == 0; }
  /// Whether it says what can be known where a machine has more ranks than cores, or else of ranks on cores of their
  /// own.
  [[nodiscard]] bool measured(bool crowded) const noexcept { return crowded ? round_us > 0 : known(); }
  friend bool operator==(const Pace&, const Pace&) = default;
  /// True where plain stores are slower by far, more than two measurements of one distance differ.
  [[nodiscard]] bool far_apart() const noexcept { return known() && streamed > 1.5 * cached; }
  [[nodiscard]] double best() const noexcept { return cached > streamed ? cached : streamed; }
  /// The faster way to write; the streamed one where nothing was measured.
  [[nodiscard]] kernels::Store way() const noexcept {
    return cached > streamed ? kernels::Store::cached : kernels::Store::streamed;
  }
};

/// Measures it; every rank of `memory` calls it, and each gets a measurement of its own. Takes some tenths of a
/// millisecond where every rank has a core. Where two stay on one core all the time, nothing is known afterwards.
Task<Pace> measure_pace(SharedGroup& memory);

/// The same where a machine has more ranks than cores: what a round takes, what a rank reads by the system while it has
/// a core, and how fast all pass on data, by which ways of writing can be compared: for more it depends too much on who
/// shares a core with whom.
Task<Pace> measure_crowded_pace(SharedGroup& memory);

/// What a process has measured or been told, so that its next communicators need not measure again.
struct KnownPaces {
  Pace apart;    ///< of ranks on cores of their own
  Pace crowded;  ///< where a machine has more ranks than cores

  [[nodiscard]] const Pace& of(bool is_crowded) const noexcept { return is_crowded ? crowded : apart; }
  [[nodiscard]] Pace& of(bool is_crowded) noexcept { return is_crowded ? crowded : apart; }
};
[[nodiscard]] KnownPaces remembered_paces() noexcept;

/// What each rank remembers by its record.
template <class Record>
std::vector<KnownPaces> paces_of(const std::vector<Record>& records) {
  std::vector<KnownPaces> paces;
  paces.reserve(records.size());
  for (const Record& record : records) paces.push_back(record.paces);
  return paces;
}

/// The pace that one of the ranks remembers, or else what the first node that can measure it measures: the same on
/// every rank of `transport`, each of which calls it, and each remembers it. `memory` is that of this rank's node, null
/// where it has none; `crowded`: a machine has more ranks than cores; `known`: to each rank.
Task<Pace> agree_on_pace(Transport& transport, SharedGroup* memory, bool crowded, std::vector<KnownPaces> known);

/// Measures again the pace of ranks on cores of their own, in less time, remembers it, and tells `memory` what rank 0
/// has measured: as the system may move a rank, or its machine, at any time.
Task<> renew_pace(SharedGroup& memory);

}  // namespace chorus
