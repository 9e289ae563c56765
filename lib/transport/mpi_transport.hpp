// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/mpi_caller.hpp"
#include "transport/mpi_runtime.hpp"
#include "transport/segmented_exchange.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace chorus {

/// Messages by MPI's nonblocking point-to-point calls, on a private communicator that many transports share: each has
/// tags of its own.
class MpiTransport : public Transport {
 public:
  /// `ranks[r]` is the rank on `channel` of this transport's rank r.
  MpiTransport(int rank, std::shared_ptr<MpiChannel> channel, std::vector<int> ranks, MpiChannel::Number number);
  ~MpiTransport() override;

  Exchange start(const Envelope& envelope) override;
  bool test(Exchange& exchange) override;
  void cancel(Exchange& exchange) noexcept override;

  [[nodiscard]] const std::shared_ptr<MpiChannel>& channel() const noexcept { return channel_; }
  /// Per rank: its rank on the channel.
  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }
  [[nodiscard]] MpiChannel::Number number() const noexcept { return number_; }

  /// The process ends where MPI does not come back for much longer than `limit`.
  void watch(std::chrono::nanoseconds limit) {
    caller_.watch(limit);
    advancing_.watch(limit);
  }
  /// Messages may be left that nobody reads: no later transport gets the tags of this one.
  void retire() noexcept { whole_ = false; }
  /// A small message out of turn, to these ranks; it is not waited for and outlives the transport, which is retired.
  void notify(ConstBytes message, std::span<const int> peers) noexcept;
  /// Such a message, the last of this transport: whoever is there yet is notified of it, and whoever has ended awaits
  /// it.
  void say_farewell(ConstBytes message, std::span<const int> peers);
  /// This transport ends, and `peer` has such a message for this rank: until it has come no other gets the tags.
  void await_farewell(int peer);
  /// Such a message from any of its ranks, if one has come: it fills at most `message`, and leaves the rest.
  [[nodiscard]] bool notified(Bytes message);
  /// Lets MPI move what is under way on any of its communicators.
  void advance();

 protected:
  [[nodiscard]] Exchange::Tickets start_whole(const Envelope& envelope);

 private:
  /// A message to or from `peer` that goes in segments: between nodes, the long ones. Empty where it does not.
  [[nodiscard]] SegmentedExchange::Message to_cut(const std::byte* data, std::size_t bytes, int peer) const noexcept;
  [[nodiscard]] MPI_Request start_receive(const Envelope& envelope);
  [[nodiscard]] MPI_Request start_send(const Envelope& envelope);
  /// Takes back what can be, and retires.
  void give_up(Exchange::Tickets& tickets) noexcept;
  bool test_segments(Exchange& exchange);
  [[nodiscard]] int tag(int channel) const noexcept { return number_ * MpiChannel::tags_each + channel; }

  std::shared_ptr<MpiChannel> channel_;
  std::vector<int> ranks_;
  MpiChannel::Number number_;
  MpiCaller caller_;
  MpiCaller advancing_;  // by a thread that waits, while another may drive what is under way
  bool whole_ = true;    // false once messages may be left: its tags are then never used again
};

}  // namespace chorus
