// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/device.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/call_site.hpp>
#include <chorus/strategies/values.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace chorus {

/// The replicas of a strategy and how they reach each other: those of a worker are threads of its process with a
/// communicator of their own, `local`; the workers have another, which the first replica of each uses.
///
/// The first replica runs on the thread that calls `run`, the others on threads of the group, each bound to its device.
class CHORUS_API ReplicaGroup {
 public:
  /// One local replica for each of `devices`. `workers`: the processes, each with as many devices; none where this one
  /// works alone. Called by all of them.
  /// Throws   Error{invalid_argument} where there is no device, or where the workers have different numbers of them.
  ReplicaGroup(std::vector<Device> devices, const std::optional<Communicator>& workers);
  ReplicaGroup(const ReplicaGroup&) = delete;
  ReplicaGroup& operator=(const ReplicaGroup&) = delete;
  ~ReplicaGroup();

  [[nodiscard]] const ReplicaLayout& layout() const noexcept;
  [[nodiscard]] std::span<const Device> devices() const noexcept;
  /// The communicator of the local replicas, as their number `local_replica` has it. Not where there is one only.
  [[nodiscard]] const Communicator& local(int local_replica) const;
  /// The communicator of the workers, for their first replicas; null where there is one only.
  ///
  /// Order    called by all workers, outside of runs: after a run that has failed the first call makes a new one.
  [[nodiscard]] const Communicator* workers() const;

  /// Calls `body(local replica)` for every replica of this worker, at the same time, and returns when all have ended on
  /// all workers. Called by all workers.
  /// Throws   what the first replica that failed has thrown; on the other workers Error{revoked} with its text. The
  ///          other replicas get the error where they wait for the one that failed; afterwards the group works again.
  void run(const std::function<void(int)>& body);

  /// Where a replica has come to, for the others to compare with.
  struct Place {
    const char* what = "";  ///< such as "merge_call"
    CallSite where = {};
    std::chrono::nanoseconds timeout = {};  ///< how long to wait; zero: CHORUS_TIMEOUT decides
  };
  /// Waits until all local replicas have come to the same place, and gives what each of them has brought. Called by
  /// every replica's thread in `run`.
  /// Throws   Error{mismatch} on every replica where they have come to different places, or some have ended;
  ///          Error{timeout} where one does not come.
  std::vector<const void*> meet(int local_replica, const Place& place, const void* brought = nullptr) const;

 private:
  struct State;
  void end(const std::function<void(int)>& body, int local_replica);
  std::unique_ptr<State> state_;
};

}  // namespace chorus
