// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"
#include "topology/binding.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace chorus {

using VirtualTime = std::chrono::duration<std::int64_t, std::pico>;

/// Ranks that are coroutines of one thread, on a virtual clock. All that MPI leaves open is drawn from a seed: the
/// order in which ranks run, how long a message takes (so that messages overtake each other, but for those of one
/// channel between two ranks), and whether a send waits for its receiver. One seed always gives the same run.
class SimulatedWorld {
 public:
  /// What a message costs: latency + bytes / bandwidth.
  struct Link {
    VirtualTime latency{};
    double megabytes_per_second = 0;
  };
  struct Options {
    int ranks = 1;
    std::uint64_t seed = 1;
    std::vector<int> nodes = {};         ///< the node of each rank; empty: all on one
    std::vector<Binding> bindings = {};  ///< where each rank is bound on its node; empty: they are not
    std::size_t slot_bytes = 4096;       ///< length of a data slot, a multiple of 64; 0: no node has shared memory
    Link same_node = {std::chrono::nanoseconds(300), 10'000};
    Link other_node = {std::chrono::nanoseconds(1500), 12'500};
    VirtualTime overhead = std::chrono::nanoseconds(100);  ///< a rank's own time for each message and wake-up
    double jitter = 2;                     ///< a latency or overhead takes 1 to 1 + jitter times its length
    std::map<int, double> slow = {};       ///< by rank: its own times are this many times longer
    std::map<int, VirtualTime> lost = {};  ///< by rank: it does nothing from then on, messages to it vanish
  };
  struct Counts {
    std::uint64_t messages = 0;  ///< exchanges started
    std::uint64_t bytes = 0;     ///< sent
  };
  struct Report {
    VirtualTime time{};  ///< from the start until the last rank finished
    /// Over ranks the most messages and, maybe by another, the most bytes. Of several nodes: of what goes between them.
    Counts busiest;
    Counts busiest_inside;                   ///< the same of what goes by messages inside one of several nodes
    std::vector<std::exception_ptr> errors;  ///< by rank: why it has not finished well; null if it has
    std::string deadlock;                    ///< where every rank waits, if nothing was left to happen; else empty

    std::uint64_t strays = 0;  ///< messages that have arrived and that nobody has received

    /// Throws the error of the first rank that has one, or Error{transport} where there are strays.
    void check() const;
  };
  /// Called once a rank; what it captures lives until `run` returns.
  using Body = std::function<Task<>(Transport&)>;

  explicit SimulatedWorld(const Options& options);
  ~SimulatedWorld();
  SimulatedWorld(const SimulatedWorld&) = delete;
  SimulatedWorld& operator=(const SimulatedWorld&) = delete;

  [[nodiscard]] Transport& transport(int rank) noexcept;
  /// Runs `body` on every rank until all have finished or nothing is left to happen. Ranks that are waiting then get
  /// Error{timeout} with the text of `deadlock`, lost ones Error{peer_lost}. The world may run again where all is well.
  Report run(const Body& body);

 private:
  class Scheduler;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace chorus
