// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/engine.hpp"
#include "task/progress_thread.hpp"
#include "transport/communicator_state.hpp"
#include "transport/farewells.hpp"

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace chorus {

class MpiRuntime;
class MpiTransport;
[[nodiscard]] MpiRuntime& runtime_of_this_rank();

/// A private communicator for messages, shared by all transports whose ranks are among its own.
class MpiChannel {
 public:
  using Number = int;  ///< tells the transports on a channel apart
  static constexpr int tags_each = 16;
  static constexpr int notice_channel = tags_each - 1;  ///< the tag of each transport for messages out of turn

  /// Told apart from other channels by the world rank that named it and that rank's count.
  struct Name {
    int creator = MPI_UNDEFINED;
    int serial = 0;
    friend bool operator==(const Name&, const Name&) = default;
  };

  /// Over the ranks of `comm`, in their order; collective over it.
  MpiChannel(MPI_Comm comm, Name name);
  MpiChannel(const MpiChannel&) = delete;
  MpiChannel& operator=(const MpiChannel&) = delete;
  /// The private communicator is MPI_Finalize's to free: freeing is collective, and this is not.
  ~MpiChannel();

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] Name name() const noexcept { return name_; }
  /// The ranks on this channel of the members of `group`; empty where some are not on it.
  [[nodiscard]] std::vector<int> ranks_of(MPI_Group group) const;
  /// The number in MPI_COMM_WORLD of a rank on this channel; no_rank where it is of another job, and of other ranks
  /// than this one where MPI may not be called.
  [[nodiscard]] int world_rank(int rank) const;

  /// Gives the highest of what all ranks of a group give.
  using Highest = std::function<Task<Number>(Number)>;
  /// Agrees on a number that no rank of the group of `highest` uses on this channel; run by each of them.
  [[nodiscard]] Task<Number> take_number(Highest highest);
  void release(Number number);
  /// The same once the message out of turn that `rank` sends at its end has come.
  void release_after_farewell(Number number, int rank);
  /// False where such a message has not come yet.
  [[nodiscard]] bool has_all_farewells();

 private:
  // Under mutex_:
  [[nodiscard]] Number lowest_free(Number from) const;
  /// False where `number` is used.
  [[nodiscard]] bool take(Number number);
  void receive_farewells();

  struct Awaited {
    Number number = 0;
    int rank = 0;
  };

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Group group_ = MPI_GROUP_NULL;
  Name name_;
  int rank_ = 0;        // of this process
  int world_rank_ = 0;  // the same
  int numbers_ = 0;     // how many the tags allow
  std::mutex mutex_;
  Number unused_from_ = 0;  // no number from here on is used,
  std::set<Number> gaps_;   // nor are these below
  std::vector<Awaited> farewells_;
};

/// What this process has of MPI: made at the first communicator, shut down by MPI_Finalize. Threads may make
/// communicators at the same time, over different ones of MPI.
class MpiRuntime {
 public:
  /// Throws Error{not_initialized} where MPI is not running.
  static MpiRuntime& get(const char* function);
  /// The process of some rank has died: MPI_Finalize would wait for it.
  static void note_lost_peer() noexcept;
  /// Some rank has not come in time, or MPI does not reach it: it may be lost.
  static void note_late_peer() noexcept;
  /// Shuts down, and says whom MPI_Finalize would wait for in vain: a peer that was lost, or was late and does not come
  /// to this, either. Collective over those who know of it. Empty where there is none.
  [[nodiscard]] static std::string missing_at_the_end();
  /// Between MPI_Init and MPI_Finalize.
  [[nodiscard]] static bool runs() noexcept;
  /// By CHORUS_PROGRESS_THREAD; a wrong value is refused where the other settings are read.
  [[nodiscard]] static bool wants_progress_thread() noexcept;
  /// False where MPI does not run, or lets only another thread call it.
  [[nodiscard]] static bool may_be_called_here() noexcept;
  [[nodiscard]] Farewells& farewells() noexcept { return farewells_; }
  /// Nothing of chorus works on MPI from here on.
  void shut_down();

  /// The chorus communicator over `comm`, for `function`; collective over it. Throws as `meet` does.
  [[nodiscard]] std::shared_ptr<detail::CommunicatorState> make(MPI_Comm comm, const char* function);
  /// The one of `transport`; `comm` is MPI's communicator of its ranks, or MPI_COMM_NULL.
  [[nodiscard]] std::shared_ptr<detail::CommunicatorState> adopt(std::unique_ptr<MpiTransport> transport,
                                                                 MPI_Comm comm);
  /// The one over MPI_COMM_WORLD, made once.
  [[nodiscard]] std::shared_ptr<detail::CommunicatorState> world();

 private:
  friend MpiRuntime& runtime_of_this_rank();
  MpiRuntime();
  static int finalize(MPI_Comm, int, void*, void*);
  [[nodiscard]] std::shared_ptr<MpiChannel> channel_for(MPI_Comm comm, MPI_Group group);
  [[nodiscard]] MpiChannel::Name name_of_channel_with(MPI_Group group);
  [[nodiscard]] std::shared_ptr<MpiChannel> channel_named(const MpiChannel::Name& name);

  std::mutex mutex_;  // never held while other ranks are waited for, whose threads may come in another order
  std::shared_ptr<Engine> engine_ = std::make_shared<Engine>();
  std::optional<ProgressThread> progress_thread_;
  std::shared_ptr<Entrance> entrance_;  // that of all communicators; null where each has its own
  std::vector<std::shared_ptr<MpiChannel>> channels_;
  std::vector<std::weak_ptr<detail::CommunicatorState>> communicators_;
  std::mutex world_mutex_;  // held while it is made: whoever waits for it here wants the same from the other ranks
  std::shared_ptr<detail::CommunicatorState> world_;
  int channels_named_ = 0;
  Farewells farewells_;
};

}  // namespace chorus
