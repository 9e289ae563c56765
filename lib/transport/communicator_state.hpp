// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/settings.hpp"
#include "task/engine.hpp"
#include "task/wait.hpp"
#include "transport/transport.hpp"

#include <chorus/error.hpp>
#include <chorus/options.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace chorus::detail {

class CommunicatorState;

/// Finds out what the ranks of a communicator share, at its first collective.
class Setup {
 public:
  /// What is known of the other ranks afterwards.
  struct Result {
    std::vector<int> nodes;                ///< the node of each rank, counted in the order of their first ranks
    std::unique_ptr<SharedGroup> shared;   ///< of this rank's node
    Native* native = nullptr;
    Settings settings;                     ///< those of rank 0
    WaitPolicy policy;
    std::vector<std::string> notes;        ///< what was decided, for the log
  };
  Setup() = default;
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;
  virtual ~Setup() = default;

  /// Every rank runs it as its first operation. `waiter` is for the shared group.
  virtual Task<Result> run(Transport& transport, Waiter& waiter) = 0;
  /// What is known of the process of `rank`: empty while it lives, else how it ended. Called while waiting.
  [[nodiscard]] virtual std::string death_of(int rank) = 0;
  /// "host node3, pid 4711, state S", for reports.
  [[nodiscard]] virtual std::string describe(int rank) const = 0;
};

/// What a public Communicator stands for: a transport, the operations under way on it, and whether it still works.
class CommunicatorState final : public Waiter, public std::enable_shared_from_this<CommunicatorState> {
 public:
  CommunicatorState(std::unique_ptr<Transport> transport, std::unique_ptr<Setup> setup,
                    std::shared_ptr<Engine> engine);
  ~CommunicatorState() override;

  [[nodiscard]] Transport& transport() noexcept { return *transport_; }
  /// Valid after the set-up.
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] bool ready() const noexcept { return ready_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// Finds out what the ranks share; the first operation of every communicator.
  Task<> set_up();

  /// A blocking call begins: throws Error{broken} if the communicator is; first drives what is parked.
  void enter(const Call& call, const CollectiveOptions& options);
  /// Drives `task` until it is done; throws what it threw.
  void drive(Task<> task);
  /// Starts `task` behind what is parked.
  void park(ParkedOperation& parked);
  [[nodiscard]] bool test(ParkedOperation& parked);
  void wait(ParkedOperation& parked, std::chrono::nanoseconds timeout);
  /// Turns the exception being handled into the Error the user gets, and where it breaks the communicator does so and
  /// tells the other ranks of the node.
  [[noreturn]] void fail(const Call& call);

  void idle(Wait& wait, Bell* bell) override;

  /// The last choice of an algorithm for each collective; the chooser's.
  struct Choice {
    Call call;
    const void* algorithm = nullptr;
  };
  std::array<Choice, collective_count> choices;

 private:
  /// Throws if waiting has become pointless: the deadline, a peer's failure, a peer's death.
  void look(Wait& wait);
  void look_at_peers(Wait& wait);
  void warn_of_stall(Wait& wait) const;
  [[nodiscard]] Error mismatch_table(const Call& call) const;
  [[nodiscard]] std::vector<int> missing() const;

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Setup> setup_;
  std::shared_ptr<Engine> engine_;
  Settings settings_;
  std::vector<std::string> notes_;
  OperationQueue queue_;
  std::chrono::nanoseconds timeout_{};  // of the call under way
  std::string broken_;                  // why, once it is
  bool ready_ = false;
};

}  // namespace chorus::detail
