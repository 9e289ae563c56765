// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/mpi_peers.hpp"
#include "transport/smpi_transport.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

namespace chorus {

/// The other ranks of a simulated communicator. They share no memory, whatever the settings say: a rank that polls
/// memory lets no time pass. Their nodes are the hosts of the platform.
class SmpiPeers final : public MpiPeers {
 public:
  SmpiPeers(SmpiTransport& transport, MPI_Comm comm) : MpiPeers(transport, comm), messages_(transport.messages()) {}

  Task<Shared> set_up(Transport& transport, Waiter& waiter, const Settings& settings) override;
  bool pass_time(Until until) override;
  // What goes wrong ends the simulation, which tells who waits for what.
  [[nodiscard]] std::string death_of(int /*rank*/) override { return {}; }
  void tell(const Failure& /*failure*/) noexcept override {}
  void call_roll() override {}
  [[nodiscard]] std::optional<Failure> told() override { return std::nullopt; }
  void end_calls(const Ended& /*own*/) noexcept override {}
  void advance() override {}

 private:
  SmpiMessages& messages_;
};

}  // namespace chorus
