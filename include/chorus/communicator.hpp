// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/call_purpose.hpp>
#include <chorus/export.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace chorus {

namespace detail {
class CommunicatorState;
}

/// An ordered group of ranks that call collectives together. A cheap handle: copies mean the same communicator.
///
/// Order    every rank of a communicator calls its collectives in the same order; one thread at a time, in the whole
///          process unless MPI runs with MPI_THREAD_MULTIPLE.
/// Errors   a thread that is noticed to come while another is inside gets Error{invalid_argument}, and nothing happens.
///          After a call has failed with mismatch, timeout, peer_lost, transport, function_threw or revoked the
///          communicator is broken: outputs are unspecified, requests under way throw an Error with the same code, and
///          each later call throws Error{broken} at once. After MPI_Finalize each throws Error{not_initialized}.
class CHORUS_API Communicator {
 public:
  /// All ranks of the job. Called by all of them (the first time it is a collective).
  /// Throws   Error{not_initialized} before MPI is initialised or after it is finalised; Error{timeout} where a rank
  ///          has not come within the CHORUS_TIMEOUT of the environment of one that waits: called again, it waits on.
  ///          Where a CHORUS_ variable of rank 0 is wrong, the first collective throws Error{invalid_environment} on
  ///          every rank.
  [[nodiscard]] static Communicator world();

  /// This process's number, from 0 to size() - 1.
  [[nodiscard]] int rank() const noexcept;
  /// The number of ranks.
  [[nodiscard]] int size() const noexcept;

  // New communicators of the ranks of this one, which outlive it if they like. What rank 0 of this one has read of the
  // environment holds for them, too. Every rank of this one calls; each throws what a collective throws.

  /// Of the ranks that give the same `color`, 0 or more, in the order of `key`, and of their ranks here where keys are
  /// equal. None for a rank that gives no color. Throws Error{invalid_argument} for a negative one.
  [[nodiscard]] std::optional<Communicator> split(std::optional<int> color, int key = 0) const;
  /// Of all ranks, in the same order: its collectives do not wait for those of this one.
  [[nodiscard]] Communicator dup() const;
  /// Of `ranks`, in that order, the same list on every rank; none for a rank that is not listed.
  /// Throws   Error{invalid_argument} where a rank is listed twice, or is none.
  [[nodiscard]] std::optional<Communicator> subset(std::span<const int> ranks) const;
  /// Of the ranks that share memory with this one, in the order of their ranks.
  [[nodiscard]] Communicator node() const;
  /// Of the first rank of every node, in the order of their ranks; none elsewhere.
  [[nodiscard]] std::optional<Communicator> leaders() const;

  /// Whether all ranks are on one node and exchange data through its memory; not where CHORUS_SHARED_MEMORY is `off`.
  /// The same on every rank, which all call, as the first call to a collective finds it out.
  [[nodiscard]] bool shares_memory() const;

  /// Gives the communicator up for all ranks, from outside any collective: for a rank that cannot go on, so that the
  /// others need not wait for it.
  ///
  /// Order    any rank calls it, alone, and is not held up; not while another thread is inside a call of this
  ///          communicator, but other communicators may be in use where the class says that they may at all.
  /// Result   on the other ranks the call that waits, or else the next one that has to, throws Error{revoked} with the
  ///          rank and `why`, within milliseconds; so do their requests. It may be a call that this rank has left.
  ///          Here requests under way end with Error{revoked}, and each later call throws Error{broken}. Nothing
  ///          happens where the communicator is broken.
  /// Throws   Error{invalid_argument} where `why` is empty, another thread is noticed inside, or in the function of a
  ///          reduction; Error{not_initialized} after MPI_Finalize.
  void revoke(const std::string& why) const;

  /// Says what this rank's next collectives are for, until it says something else: for libraries whose calls are made
  /// of collectives, as two that differ may make the same. A request keeps the purpose that it was made with.
  ///
  /// Order    any rank, alone, from outside any collective: nothing is sent, as the number is compared with the call.
  /// Result   where ranks make a call with different numbers it throws Error{mismatch}, as where they make different
  ///          calls; the text then has that of each rank's number.
  void set_purpose(const CallPurpose& purpose) const noexcept;
  /// What was said last.
  [[nodiscard]] const CallPurpose& purpose() const noexcept;

  Communicator(const Communicator&) = default;  // a move copies, too: no handle is ever empty
  Communicator& operator=(const Communicator&) = default;
  explicit Communicator(std::shared_ptr<detail::CommunicatorState> state) noexcept;
  [[nodiscard]] detail::CommunicatorState& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<detail::CommunicatorState> state_;
};

}  // namespace chorus
