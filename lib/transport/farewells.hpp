// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <list>
#include <mutex>

namespace chorus {

/// What a rank says last on its communicators: small messages that nobody here waits for. They outlive the communicator
/// and lie here until MPI has sent them.
class Farewells {
 public:
  static constexpr std::size_t most_bytes = 40;

  /// At most `most_bytes`; `peer` is a rank of `comm`.
  void send(ConstBytes message, int peer, int tag, MPI_Comm comm);
  /// MPI ends: what is still under way is left to it, and stays where it lies.
  void leave() noexcept;

 private:
  struct UnderWay {
    std::array<std::byte, most_bytes> message{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  std::mutex mutex_;
  std::list<UnderWay> under_way_;
};

}  // namespace chorus
