// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

namespace chorus {

/// How many threads of a process may be inside MPI, or chorus, at a time.
enum class ThreadLevel {
  serialized,  ///< one (MPI_THREAD_SERIALIZED)
  multiple,    ///< any number, each with a communicator of its own (MPI_THREAD_MULTIPLE)
};

/// Keeps MPI running while it lives. Made once, at the start of `main`, by programs that do not call MPI_Init
/// themselves; where MPI is running already it does nothing. From then on the signal SIGPIPE is ignored, if the program
/// has not said what it does: MPI may write to a connection whose peer has died. An exception that nobody catches then
/// ends the job with a line that says which, if the program has set no std::terminate_handler.
///
/// Throws   Error{not_initialized} where MPI was finalised before: it cannot start twice; Error{not_supported} where
///          it does not give the level of threads that is asked for.
class CHORUS_API Environment {
 public:
  explicit Environment(ThreadLevel threads = ThreadLevel::serialized);
  /// Finalises MPI if the constructor initialised it, or one before it that threw, but not in a child that the program
  /// has forked; waits for all ranks then. Where an exception leaves its scope it aborts the job instead, as the other
  /// ranks would wait for this one for ever, and says what the last chorus::Error of this thread was. Where a call has
  /// thrown Error{peer_lost}, or Error{timeout} or {transport} and the late rank does not come here within seconds,
  /// either, it leaves MPI as it is and says so, as MPI_Finalize may wait for a lost rank for ever; a program that has
  /// called MPI_Init itself should end without MPI_Finalize then.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// How many ranks MPI_COMM_WORLD has, whichever of them a communicator is of; 1 while MPI does not run.
  [[nodiscard]] static int world_size() noexcept;
  /// This one's number among them; 0 while MPI does not run.
  [[nodiscard]] static int world_rank() noexcept;

 private:
  int process_ = 0;  // whose MPI it ends; 0: none
};

}  // namespace chorus
