// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/settings.hpp"
#include "task/engine.hpp"
#include "task/wait.hpp"
#include "topology/binding.hpp"
#include "transport/transport.hpp"

#include <chorus/communicator.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace chorus {

/// Ranks that are threads of this process, as one communicator: each reads the others' memory.
class ThreadWorld {
 public:
  struct Options {
    int ranks = 1;
    std::vector<int> nodes = {};         ///< the node each rank pretends to be on; empty: all on one
    std::vector<Binding> bindings = {};  ///< where each rank pretends to be bound; empty: they do not pretend
    /// Length of a data slot, a multiple of 64; 0: no node has shared memory.
    std::size_t slot_bytes = std::size_t{64} * 1024;
    Settings settings = {};  ///< for the communicators
  };
  /// Throws Error{invalid_argument} where `nodes` does not fit `ranks`.
  explicit ThreadWorld(const Options& options);

  [[nodiscard]] int ranks() const noexcept;
  /// What `rank` carries out collectives on, made once and by any thread; the thread of `rank` uses it. `waiter` is
  /// asked while that thread waits for shared memory, and outlives the transport.
  [[nodiscard]] std::unique_ptr<Transport> transport(int rank, Waiter& waiter) const;
  /// The communicator of `rank`, instead of its transport: made once. Communicators with the same `engine` drive each
  /// other's requests, as those of one process do; null: as those of one thread do.
  [[nodiscard]] Communicator communicator(int rank, const std::shared_ptr<Engine>& engine = nullptr) const;
  /// From now on the other ranks find that `rank` has died, and `how`.
  void lose(int rank, const std::string& how);

  struct State;

 private:
  std::shared_ptr<State> state_;  // the transports may outlive the world
};

}  // namespace chorus
