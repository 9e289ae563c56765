// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/strategies/strategy_call.hpp>

#include <chrono>
#include <cstdint>

namespace chorus::detail {

/// What a worker has done in a run: the workers compare it at the end, as nobody else compares the calls of those that
/// share no memory.
struct RunRecord {
  std::uint64_t structure = 0;  ///< structure_number of what the replicas have made; 0: nothing
  std::uint64_t calls = 0;      ///< a hash of all calls since the workers' communicators were made, in their order
  std::uint32_t last = 0;       ///< the number of the last call's purpose
  std::uint32_t count = 0;      ///< of the calls since the last run
  friend bool operator==(const RunRecord&, const RunRecord&) = default;

  void add(const StrategyCall& call) noexcept;
};

/// Throws Error{mismatch} on every worker where their records differ. All call it.
void check_alike(const Communicator& workers, const RunRecord& mine, std::chrono::nanoseconds timeout);

}  // namespace chorus::detail
