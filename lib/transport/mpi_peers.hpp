// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/communicator_state.hpp"
#include "transport/known_processes.hpp"
#include "transport/mpi_native.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/node_memory.hpp"
#include "transport/notice.hpp"
#include "transport/private_comm.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace chorus {

/// The other ranks of an MPI communicator.
class MpiPeers : public detail::Peers {
 public:
  /// `transport` and `comm` outlive it; `comm` is MPI_COMM_NULL where MPI has no communicator of these ranks.
  MpiPeers(MpiTransport& transport, MPI_Comm comm);
  ~MpiPeers() override;

  [[nodiscard]] Settings own_settings() const override { return Settings::before_agreement(); }
  Task<Settings> agree_on_settings(Transport& transport) override;
  Task<Shared> set_up(Transport& transport, Waiter& waiter, const Settings& settings) override;
  [[nodiscard]] std::string death_of(int rank) override;
  [[nodiscard]] int world_rank(int rank) const override;
  [[nodiscard]] std::string describe(int rank) const override;
  void call_roll() override;
  [[nodiscard]] std::vector<int> silent() const override { return silent_; }
  void retire(ErrorCode why) noexcept override;
  void tell(const Failure& failure) noexcept override;
  void advance() override;
  [[nodiscard]] std::optional<Failure> told() override;
  void end_calls(const Ended& own) noexcept override;
  [[nodiscard]] std::optional<Ended> ended() const override { return ended_; }
  Task<std::shared_ptr<detail::CommunicatorState>> make(Transport& members, const std::vector<int>& ranks) override;
  Task<Native*> find_native(Transport& transport) override;

 protected:
  /// MPI's own collectives over these ranks; null where MPI has no communicator of them.
  [[nodiscard]] Native* native() noexcept { return native_ ? &*native_ : nullptr; }

 private:
  /// Does not share memory with this rank, as far as it knows.
  [[nodiscard]] bool is_elsewhere(int rank) const;
  [[nodiscard]] std::vector<int> elsewhere() const;
  /// Tells those of other nodes that share the node of the rank that has failed.
  void pass_on(const Notice& failure) noexcept;
  /// What is known of its process.
  [[nodiscard]] std::optional<KnownProcess> process_of(int rank) const;
  /// What is on one machine.
  struct Crowd {
    int ranks = 0;
    int nodes = 0;
    int cores = 1;
  };
  [[nodiscard]] Crowd crowd_of(std::uint64_t kernel) const;
  [[nodiscard]] WaitPolicy policy_of(std::uint64_t kernel) const;
  [[nodiscard]] std::set<std::uint64_t> kernels() const;
  [[nodiscard]] bool is_crowded() const;
  /// Notes how many ranks and nodes share a core of the fullest machine.
  void note_crowd(Pace& pace) const;
  [[nodiscard]] std::unique_ptr<SharedGroup> make_group(const Settings& settings, Waiter& waiter) const;

  MpiTransport& transport_;
  std::optional<PrivateComm> comm_;  // of the native collectives, where MPI had none of these ranks
  std::optional<MpiNative> native_;
  std::vector<PeerRecord> records_;  // per rank; empty before the set-up
  NodeMemory memory_;
  std::chrono::nanoseconds limit_{};  // of a call of MPI that does not wait, where others are elsewhere; 0: none
  std::vector<int> silent_;           // have not answered the last roll call
  std::optional<Ended> ended_;        // what the rank before this one has said, of itself or of one before it
};

}  // namespace chorus
