// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <memory>

namespace chorus {

namespace detail {
class CommunicatorState;
}

/// An ordered group of ranks that call collectives together. A cheap handle: copies mean the same communicator.
///
/// Order    every rank of a communicator calls its collectives in the same order; one thread at a time, in the whole
///          process unless MPI runs with MPI_THREAD_MULTIPLE.
/// Errors   a thread that is noticed to come while another is inside gets Error{invalid_argument}, and nothing happens.
///          After a call has failed with mismatch, timeout, peer_lost or transport the communicator is broken: outputs
///          are unspecified and each later call throws Error{broken} at once.
class CHORUS_API Communicator {
 public:
  /// All ranks of the job. Called by all of them (the first time it is a collective).
  /// Throws   Error{not_initialized} before MPI is initialised or after it is finalised. Where a CHORUS_ variable of
  ///          rank 0 is wrong, the first collective throws Error{invalid_environment} on every rank.
  [[nodiscard]] static Communicator world();

  /// This process's number, from 0 to size() - 1.
  [[nodiscard]] int rank() const noexcept;
  /// The number of ranks.
  [[nodiscard]] int size() const noexcept;

  explicit Communicator(std::shared_ptr<detail::CommunicatorState> state) noexcept;
  [[nodiscard]] detail::CommunicatorState& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<detail::CommunicatorState> state_;
};

}  // namespace chorus
