// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/mpi_transport.hpp"

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace chorus {

/// The messages that a simulated rank waits for, on all its communicators. To poll one would let no time pass, so that
/// those of all are waited for at once.
class SmpiMessages {
 public:
  void add(Exchange& exchange);
  void remove(const Exchange& exchange) noexcept;
  /// Ends the wait for one of them, or comes back without where there are none. With `block` it waits until it can.
  void complete_one(bool block);
  /// True where what has come for `exchange` is not as long as it should be; `found`: how long it is.
  [[nodiscard]] bool is_unexpected(const Exchange& exchange, std::size_t& found) const noexcept;

 private:
  struct Unexpected {
    const Exchange* exchange = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<Exchange*> awaited_;      // in the order in which they were first waited for, so that runs repeat
  std::vector<Unexpected> unexpected_;  // came, but not as they should
  std::vector<MPI_Request> requests_;   // kept for their memory alone
};

/// Messages between simulated ranks. They go whole: what cutting them gains depends on what SMPI does not simulate.
class SmpiTransport final : public MpiTransport {
 public:
  SmpiTransport(int rank, std::shared_ptr<MpiChannel> channel, std::vector<int> ranks, MpiChannel::Number number,
                SmpiMessages& messages);

  Exchange start(const Envelope& envelope) override;
  bool test(Exchange& exchange) override;
  void cancel(Exchange& exchange) noexcept override;

  [[nodiscard]] SmpiMessages& messages() noexcept { return messages_; }

 private:
  SmpiMessages& messages_;
};

}  // namespace chorus
