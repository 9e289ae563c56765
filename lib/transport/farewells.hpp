// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <mpi.h>

#include <cstddef>
#include <list>
#include <mutex>
#include <span>
#include <vector>

namespace chorus {

/// What a rank says last on its communicators, or when it gives them up: small messages that nobody here waits for.
/// They outlive the communicator and lie here until MPI has sent them.
class Farewells {
 public:
  /// `peers` are ranks of `comm`.
  void send(ConstBytes message, std::span<const int> peers, int tag, MPI_Comm comm);
  /// MPI ends: what is still under way is left to it, and stays where it lies.
  void leave() noexcept;

 private:
  struct UnderWay {
    std::vector<std::byte> message;
    std::vector<MPI_Request> requests;
  };

  std::mutex mutex_;
  std::list<UnderWay> under_way_;
};

}  // namespace chorus
