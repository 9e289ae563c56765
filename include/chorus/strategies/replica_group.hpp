// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/device.hpp>
#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/call_site.hpp>
#include <chorus/strategies/strategy_call.hpp>
#include <chorus/strategies/values.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

namespace chorus {

/// The replicas of a strategy and how they reach each other: those of a worker are threads of its process with a
/// communicator of their own, `local`; the workers have another, which the first replica of each uses.
///
/// The first replica runs on the thread that calls `run`, the others on threads of the group, each bound to its device.
class CHORUS_API ReplicaGroup {
 public:
  /// One local replica for each of `devices`. `workers`: the processes, each with as many devices; none where this one
  /// works alone. Called by all of them, which wait for each other for `timeout` where it is not 0, here and after a
  /// failure.
  /// Throws   Error{invalid_argument} where there is no device, or where the workers have different numbers of them;
  ///          Error{transport} on all of them where the system starts no thread for a replica of one;
  ///          Error{timeout}, after which `workers` is broken.
  ReplicaGroup(std::vector<Device> devices, const std::optional<Communicator>& workers,
               std::chrono::nanoseconds timeout = {});
  ReplicaGroup(const ReplicaGroup&) = delete;
  ReplicaGroup& operator=(const ReplicaGroup&) = delete;
  ~ReplicaGroup();

  [[nodiscard]] const ReplicaLayout& layout() const noexcept;
  /// Whether all replicas reach each other through the memory of one node (see Communicator::shares_memory).
  [[nodiscard]] bool shares_memory() const noexcept;
  /// The communicator of the local replicas, as their number `local_replica` has it. Not where there is one only.
  [[nodiscard]] const Communicator& local(int local_replica) const;
  /// The communicator of the workers, for their first replicas; null where there is one only.
  ///
  /// Order    called by all workers, outside of runs: after a run or a collective that has failed the first call makes
  ///          a new one.
  [[nodiscard]] const Communicator* workers() const;

  /// Makes MPI's own collectives known to that communicator, so that requests may name them; the first time that is a
  /// collective. By the first replicas of all workers.
  void find_native(std::chrono::nanoseconds timeout) const;

  /// Calls `body(local replica)` for every replica of this worker, at the same time, and returns when all have ended on
  /// all workers. Called by all workers.
  ///
  /// `structure()`, where it is given, is called once on each worker after its replicas: it checks what they have made,
  /// and returns a number that is the same on all workers whose replicas have made the same structure.
  /// At the end the workers compare these, and what they have announced since the run before.
  /// `timeout`: how long replicas and workers wait for each other where nothing else is said; zero: CHORUS_TIMEOUT
  /// decides.
  /// Throws   what the first replica that failed, or `structure`, has thrown; on the other workers Error{revoked} with
  ///          its text; Error{mismatch} on all workers where the structures or the calls differ. The other replicas get
  ///          the error where they wait for the one that failed; afterwards the group works again.
  void run(const std::function<void(int)>& body, const std::function<std::uint64_t()>& structure = {},
           std::chrono::nanoseconds timeout = {});

  /// body(), which all workers call outside of runs. Where it throws on this worker the others get Error{revoked} with
  /// the text, where they wait in a collective, or else from the next one; afterwards the group works again.
  ///
  /// The body has a collective that no worker leaves before all have come, such as an allreduce or a barrier: so none
  /// is more than a call ahead of another, and what one throws is told in the call that it has thrown in.
  template <class Body>
  decltype(auto) together(const Body& body) {
    take_turn();
    return further(body);
  }

  /// The same as a part of the call before, on its communicator.
  template <class Body>
  decltype(auto) further(const Body& body) {
    try {
      return body();
    } catch (...) {
      give_up();
      throw;
    }
  }

  /// The same of a body without collectives, which the next call to `together` or `run` follows: it is there that the
  /// others are told.
  template <class Body>
  decltype(auto) ahead(const Body& body) {
    try {
      return body();
    } catch (...) {
      take_turn();
      give_up();
      throw;
    }
  }

  /// body(), which looks at what all workers have told each other: it throws an Error on all of them or on none, so
  /// that nobody is told. Called by all workers, in `together` or by their first replicas in `run`.
  template <class Body>
  decltype(auto) alike(const Body& body) const {
    try {
      return body();
    } catch (const Error&) {
      note_thrown_alike();
      throw;
    }
  }

  /// What is done with what the replicas bring to a meeting.
  struct CHORUS_API Use {
    const std::type_info* types = nullptr;     ///< result (what is brought); null: the place alone says it
    const std::type_info* function = nullptr;  ///< that is called with it
    const void* code = nullptr;                ///< where `function` is a type that several functions have: which one

    [[nodiscard]] bool same_types(const Use& other) const noexcept;
    bool operator==(const Use& other) const noexcept;
  };
  /// Where a replica has come to, for the others to compare with.
  struct Place {
    const char* what = "";  ///< such as "merge_call"
    CallSite where = {};
    std::chrono::nanoseconds timeout = {};  ///< how long to wait; zero: as long as the run says
    bool in_call = false;                   ///< part of the call that come_to has told last, which is compared, too
    Use use = {};
    std::string arguments = {};  ///< those that are the same in every replica, as messages tell them
  };
  /// Waits until all local replicas have come to the same place, and gives what each of them has brought: to be looked
  /// at while a Reading lives, and before the next meeting. Called by every replica's thread in `run`.
  /// Throws   Error{mismatch} on every replica where they have come to different places, for a different use or with
  ///          different `arguments`, or some have ended; Error{timeout} where one does not come.
  std::vector<const void*> meet(int local_replica, const Place& place, const void* brought = nullptr) const;

  /// Says what the next collectives of the workers are for, which are told where theirs differ: at once where they
  /// share memory, and at the end of the next run. Called by all workers, in `together`.
  void announce(const StrategyCall& call) const;
  /// The same of the next collectives of the local replicas and, by the first one, of the workers.
  void come_to(int local_replica, const StrategyCall& call) const;
  /// What a replica has begun and not yet sent to the other workers.
  class CHORUS_API Unsent {
   public:
    Unsent() = default;
    Unsent(const Unsent&) = delete;
    Unsent& operator=(const Unsent&) = delete;
    virtual ~Unsent() = default;
    /// Sends it, when the other local replicas have begun it, too.
    virtual void send() = 0;
  };
  /// `next` is what a replica sends next. What it has begun before, if that is something else, is sent first: so the
  /// workers send it in the same order, though on each it may be ready at another time. `meet` and `come_to` do this,
  /// too, with nothing. Called by every replica's thread in `run`; what `next` points to ends after `forget`.
  void send_next(int local_replica, Unsent* next) const;
  void forget(int local_replica, const Unsent& ended) const noexcept;
  /// body(), in which every local replica calls the same collectives of `local`. Where they are not the same,
  /// Error{mismatch} tells where the replicas have come to; where some have not come, Error{timeout}.
  template <class Body>
  void collectively(const Body& body) const {
    const auto began = std::chrono::steady_clock::now();
    try {
      body();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::mismatch) reject_different_places();
      if (error.code() == ErrorCode::timeout) reject_missing(std::chrono::steady_clock::now() - began);
      throw;
    }
  }

  /// While it lives what the replicas have brought to a meeting stays: one that fails in the next meeting waits before
  /// its stack is unwound. Made after `meet`, and ended before the next.
  class CHORUS_API Reading {
   public:
    /// Throws   Error{revoked} where a replica has failed since.
    explicit Reading(const ReplicaGroup& group);
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading();

   private:
    void end() noexcept;
    std::atomic<std::uint32_t>& readers_;
  };

 private:
  struct State;
  void end(const std::function<void(int)>& body, int local_replica);
  /// Throws Error{mismatch} where the local replicas are in different places.
  void reject_different_places() const;
  /// Throws Error{timeout} where local replicas have not come to where others have been for so long.
  void reject_missing(std::chrono::nanoseconds waited) const;
  /// Tells what the other local replicas do, at most its first 127 letters.
  [[nodiscard]] std::vector<std::string> tell(int local_replica, const std::string& text) const;
  /// Ends the run: agrees with the other workers that all is well, or throws.
  void end_with_workers(const std::function<std::uint64_t()>& structure);
  /// Begins a run or a call outside of runs.
  void take_turn();
  /// In a catch block: what is being thrown is thrown on every worker.
  void note_thrown_alike() const;
  /// In a catch block, outside of runs: tells the other workers what is being thrown.
  void give_up();
  std::unique_ptr<State> state_;
};

}  // namespace chorus
