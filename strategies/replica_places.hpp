// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/replica_group.hpp>
#include <chorus/strategies/values.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chorus {

/// Where the local replicas have come to last in a run, which is told where they wait for each other in vain. Each
/// replica's thread notes its own place; any may ask.
class ReplicaPlaces {
 public:
  /// The place of a replica whose function has ended.
  static constexpr const char* end_of_run = "the end of the function, where it leaves the run";

  explicit ReplicaPlaces(std::size_t local_replicas) : places_(local_replicas) {}

  /// Before a run: nobody has come anywhere.
  void reset() noexcept;
  /// The local replica has come to `name`, which lives as long as the program; `call`: the StrategyCall::kind that it
  /// is a part of, or 0; `tensors`: the checksum of what the call is of, or 0.
  void stand(int local_replica, const char* name, std::uint32_t call, std::uint32_t tensors = 0) noexcept;
  /// That call.
  [[nodiscard]] std::uint32_t call_of(int local_replica) const noexcept;

  /// Throws Error{mismatch} where the replicas are in different places, or in one with different tensors.
  void reject_different(const ReplicaLayout& layout) const;
  /// Throws Error{timeout} where some replicas have not come to where others have been for so long.
  void reject_missing(const ReplicaLayout& layout, std::chrono::nanoseconds waited) const;

 private:
  struct Standing {
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint32_t> call{0};
    std::atomic<std::uint32_t> tensors{0};
    std::atomic<int> calls{0};  ///< how often it has come somewhere in this run

    [[nodiscard]] std::string text() const;
    [[nodiscard]] int so_far() const noexcept { return calls.load(std::memory_order_relaxed); }
  };
  [[nodiscard]] const Standing& at(int local_replica) const { return places_[static_cast<std::size_t>(local_replica)]; }
  std::vector<Standing> places_;  // of each local replica
};

/// Throws Error{mismatch}: the first replica has come to `first`, and another, `local_replica`, to `other`.
[[noreturn]] void reject_places(const ReplicaLayout& layout, const std::string& first, std::size_t local_replica,
                                const std::string& other);
/// The same of replicas that have come to `place` for different uses, or with different arguments.
[[noreturn]] void reject_uses(const ReplicaLayout& layout, const std::string& place, const ReplicaGroup::Use& first,
                              std::size_t local_replica, const ReplicaGroup::Use& other);
[[noreturn]] void reject_arguments(const ReplicaLayout& layout, const std::string& place, const std::string& first,
                                   std::size_t local_replica, const std::string& other);

}  // namespace chorus
