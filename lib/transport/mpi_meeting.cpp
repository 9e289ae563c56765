// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_meeting.hpp"

#include "base/settings.hpp"
#include "task/engine.hpp"
#include "task/wait.hpp"
#include "transport/mpi_caller.hpp"
#include "transport/mpi_error.hpp"

#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

namespace chorus {
namespace {

using namespace std::chrono_literals;

/// In the first, ranks wait for those that come late, and may give up; past the second, all know that nobody has. Who
/// comes after another has given up waits in the second, where there is a limit.
constexpr int barriers_each = 2;

/// How far a meeting has come; where it was given up, an attribute of its communicator.
struct Stage {
  int barriers = 0;  ///< that this rank is past
  MPI_Request under_way = MPI_REQUEST_NULL;
};

std::atomic<int> given_up{0};  // meetings of this process, but for those that others have gone on with

int forget(MPI_Comm /*comm*/, int /*key*/, void* stage, void* /*extra*/) {
  const std::unique_ptr<const Stage> owned(static_cast<const Stage*>(stage));
  return MPI_SUCCESS;
}

int make_key() {
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr), "MPI_Comm_create_keyval");
  return key;
}

int key_of_stages() {
  static const int key = make_key();
  return key;
}

/// Null where none was given up.
const Stage* stage_of(MPI_Comm comm) {
  void* found = nullptr;
  int there = 0;
  check_mpi(MPI_Comm_get_attr(comm, key_of_stages(), static_cast<void*>(&found), &there), "MPI_Comm_get_attr");
  return there != 0 ? static_cast<const Stage*>(found) : nullptr;
}

/// One meeting, and how this rank waits in it. How many ranks share its cores is not known yet: it yields at once.
class Meeting final : public Waiter {
 public:
  Meeting(MPI_Comm comm, const char* function, Engine& engine)
      : Waiter(WaitPolicy{.spins = 0}),
        comm_(comm),
        function_(function),
        engine_(engine),
        settings_(Settings::before_agreement()) {
    caller_.watch(settings_.timeout);
  }

  void hold();
  void idle(Wait& wait, Bell* bell) override;

 private:
  /// Goes on where an earlier one was given up.
  void take_up();
  void give_up();
  void begin_barrier();
  [[nodiscard]] bool is_past_barrier();
  [[nodiscard]] std::string who() const;

  MPI_Comm comm_;
  const char* function_;
  Engine& engine_;
  Settings settings_;
  MpiCaller caller_;
  Stage stage_;
};

void Meeting::hold() {
  take_up();
  try {
    for (; stage_.barriers < barriers_each; ++stage_.barriers) {
      if (stage_.under_way == MPI_REQUEST_NULL) begin_barrier();
      Wait wait(*this);
      while (!is_past_barrier()) wait.pause(nullptr);
    }
  } catch (...) {
    give_up();
    throw;
  }
}

void Meeting::take_up() {
  const Stage* const stage = stage_of(comm_);
  if (stage == nullptr) return;
  stage_ = *stage;
  check_mpi(MPI_Comm_delete_attr(comm_, key_of_stages()), "MPI_Comm_delete_attr");
  given_up.fetch_sub(1, std::memory_order_relaxed);
}

void Meeting::give_up() {
  auto stage = std::make_unique<Stage>(stage_);
  check_mpi(MPI_Comm_set_attr(comm_, key_of_stages(), stage.get()), "MPI_Comm_set_attr");
  static_cast<void>(stage.release());
  given_up.fetch_add(1, std::memory_order_relaxed);
}

void Meeting::begin_barrier() {
  const MpiCaller::Call call(caller_);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  stage_.under_way = request;
}

bool Meeting::is_past_barrier() {
  const MpiCaller::Call call(caller_);
  int past = 0;
  check_mpi(MPI_Test(&stage_.under_way, &past, MPI_STATUS_IGNORE), "MPI_Test");
  return past != 0;
}

void Meeting::idle(Wait& wait, Bell* /*bell*/) {
  engine_.progress_with_this_threads();
  wait.rest(nullptr);
  if (!wait.look()) return;
  const std::chrono::duration<double> waited = wait.waited();
  if (settings_.timeout > 0ns && wait.waited() > settings_.timeout) {
    throw Error(
        ErrorCode::timeout,
        fmt::format("{} on {}: it has waited {:.3g} s, its limit (CHORUS_TIMEOUT): any other rank may be the one "
                    "that has not come to this call, or has given it up; see that all make it and that their "
                    "hosts answer, and make it again, on the same communicator of MPI, to wait on, or start the "
                    "job again",
                    function_, who(), std::chrono::duration<double>(settings_.timeout).count()));
  }
  if (!wait.warned && settings_.stall_warning > 0ns && wait.waited() > settings_.stall_warning) {
    wait.warned = true;
    fmt::print(stderr, "chorus: {} has waited {:.3g} s in {}: any other rank may be the one that has not come to it\n",
               who(), waited.count(), function_);
  }
}

std::string Meeting::who() const {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  const int in_world = Environment::world_rank();
  return in_world == rank ? fmt::format("rank {}", rank)
                          : fmt::format("rank {} (rank {} of MPI_COMM_WORLD)", rank, in_world);
}

}  // namespace

void meet(MPI_Comm comm, const char* function, Engine& engine) { Meeting(comm, function, engine).hold(); }

bool is_given_up(MPI_Comm comm) { return stage_of(comm) != nullptr; }

bool some_meeting_is_given_up() noexcept { return given_up.load(std::memory_order_relaxed) > 0; }

}  // namespace chorus
