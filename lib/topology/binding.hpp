// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace chorus {

struct Topology;

/// The largest number of processing units (PUs: what the system calls a CPU) of a machine. Those whose index in the
/// system is at or beyond it are left out.
inline constexpr int max_pus = 1024;

/// Processing units, by their index in the system.
using PuSet = std::bitset<max_pus>;
[[nodiscard]] inline bool is_subset(const PuSet& inner, const PuSet& outer) noexcept { return (inner & ~outer).none(); }

/// What ranks of a job can have in common, from the outside in. Caches are named only where several cores share them.
enum class Level : std::uint8_t { node, package, numa, l3, l2 };
inline constexpr int level_count = 5;

/// "node", "package", "NUMA", "L3" or "L2".
[[nodiscard]] const char* name(Level level) noexcept;

/// What the kernel's scheduler grants a control group: processor time worth `cores` cores.
struct CpuQuota {
  double cores = std::numeric_limits<double>::infinity();
  std::uint64_t group = 0;  ///< the same for processes that share the quota; 0: there is none
};

/// Where a thread may run. Plain bytes, the same size everywhere: ranks exchange it as it is.
struct Binding {
  PuSet pus;    ///< it may run on these, as far as the machine allows them to this job; never empty
  PuSet cores;  ///< the first PU of each core that `pus` touches
  /// The package, NUMA domain, L3 and L2 that holds all of `pus`, as a number within the machine; -1: none does, or it
  /// is no level there (see Topology::place). The node itself is no entry: element 0 stands for Level::package.
  std::array<std::int16_t, level_count - 1> objects = {-1, -1, -1, -1};
  bool bound = false;  ///< `pus` are fewer than the machine allows to this job
  CpuQuota quota;

  /// The object of `level`, which is not `node`; -1: none.
  [[nodiscard]] int object(Level level) const noexcept { return objects.at(static_cast<std::size_t>(level) - 1); }
};
static_assert(std::is_trivially_copyable_v<Binding>);

/// Where the calling thread may run on `topology`. Where that is not the machine the program runs on but a described
/// one, the thread may run everywhere.
[[nodiscard]] Binding current_binding(const Topology& topology);

/// The PUs that the main thread of this process may run on. Empty where the system does not tell.
[[nodiscard]] PuSet affinity_of_process();

/// How many cores the threads with `bindings`, all on one node, have between them: the cores of their PUs, each counted
/// once, whichever of its PUs they may use; less where a quota allows less. At least 1; 0 for no bindings. A node on
/// which there are more threads than that is oversubscribed.
[[nodiscard]] int cores_available(std::span<const Binding> bindings);

}  // namespace chorus
