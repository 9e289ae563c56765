// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <stdexcept>
#include <string>

namespace chorus {

/// What went wrong, for a program that wants to react to it.
enum class ErrorCode {
  invalid_argument,     ///< a wrong argument, found before anything was sent; the communicator is still usable
  invalid_environment,  ///< a wrong environment variable or tuning file, found before anything was sent
  not_supported,        ///< the named algorithm, or a value or variable of a strategy, cannot carry out this call; the
                        ///< communicator is still usable
  not_initialized,      ///< MPI is not running: make a chorus::Environment or call MPI_Init first
  mismatch,             ///< ranks disagree about the call, or one has ended with the communicator
                        ///< before it; the communicator is broken
  timeout,              ///< a deadline passed; the communicator is broken
  peer_lost,            ///< the process of another rank has died; the communicator is broken
  broken,               ///< an earlier call on this communicator failed
  transport,            ///< MPI or the operating system refused; the communicator is broken
  function_threw,       ///< the function of a reduction has thrown an exception; the communicator is broken
  revoked,              ///< a rank has revoked the communicator (Communicator::revoke), which is broken
  not_built,            ///< the library has been built without what was asked for
  wrong_context,        ///< a call of a strategy where it does not belong: in a replica, or outside of one
};

/// The name of `code` as it is spelled in the source, for messages.
[[nodiscard]] CHORUS_API const char* name(ErrorCode code) noexcept;

/// The one exception chorus throws, but for std::bad_alloc where memory is short. `what()` names the function, the
/// argument, the rank and the remedy.
class CHORUS_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  /// what() without the name of the library and of the code.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  ErrorCode code_;
  std::string message_;
};

}  // namespace chorus
