// SPDX-License-Identifier: Apache-2.0
#include "preload/attachment.hpp"

#include "base/settings.hpp"
#include "preload/next.hpp"
#include "preload/report.hpp"
#include "transport/communicator_state.hpp"
#include "transport/native.hpp"

#include <chorus/interop/mpi.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>

namespace chorus::preload {
namespace {

enum class Stage : std::uint8_t { not_begun, running, over };

constexpr int calls_before_set_up = 10;

std::atomic<Stage> stage{Stage::not_begun};
std::atomic<std::uint64_t> detachments{0};  // a handle may mean another communicator after each
int attachment_key = MPI_KEYVAL_INVALID;    // written before the stage is `running`

int detach(MPI_Comm /*comm*/, int /*key*/, void* attachment, void* /*extra*/) {
  const Inside inside;
  detachments.fetch_add(1, std::memory_order_acq_rel);
  delete static_cast<Attachment*>(attachment);
  return MPI_SUCCESS;
}

bool asked_to_stay_out() {
  const char* const wish = std::getenv("CHORUS_DISABLE");
  return wish != nullptr && std::string_view(wish) == "1";
}

/// On rank 0 of the job, once.
void warn(const Error& error) {
  static std::atomic<bool> warned{false};
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || warned.exchange(true)) return;
  std::fprintf(stderr, "chorus: warning: collectives go to MPI: %s\n", error.message().c_str());
}

/// A wrong setting is found by the first collective that chorus would carry out, which may come late or never.
void warn_of_wrong_settings() {
  try {
    static_cast<void>(Settings::parse(environ));
  } catch (const Error& error) {
    warn(error);
  }
}

/// True once MPI runs and chorus may take part.
bool begin() {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (stage.load(std::memory_order_relaxed) != Stage::not_begun) {
    return stage.load(std::memory_order_relaxed) == Stage::running;
  }
  int initialized = 0;
  int finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (initialized == 0) return false;
  if (finalized != 0 || asked_to_stay_out()) {
    stage.store(Stage::over, std::memory_order_release);
    return false;
  }
  Report::read_environment();
  warn_of_wrong_settings();
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, detach, &attachment_key, nullptr);
  stage.store(Stage::running, std::memory_order_release);
  return true;
}

Attachment* find_or_make(MPI_Comm comm) {
  void* found = nullptr;
  int there = 0;
  PMPI_Comm_get_attr(comm, attachment_key, static_cast<void*>(&found), &there);
  if (there != 0) return static_cast<Attachment*>(found);
  auto made = std::make_unique<Attachment>(comm);
  PMPI_Comm_set_attr(comm, attachment_key, made.get());
  return made.release();
}

/// False for a communicator with ranks of other jobs (MPI_Comm_spawn, MPI_Comm_connect), which may be without chorus.
/// No rank of such a communicator has all others in its MPI_COMM_WORLD, so that all see it alike.
bool is_within_world(MPI_Comm comm) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group both = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  PMPI_Group_intersection(group, world, &both);
  int all = 0;
  int within = 0;
  PMPI_Group_size(group, &all);
  PMPI_Group_size(both, &within);
  for (MPI_Group* const each : {&world, &group, &both}) {
    if (*each != MPI_GROUP_EMPTY) PMPI_Group_free(each);
  }
  return within == all;
}

void print_report() noexcept {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  try {  // MPI_Finalize knows no exceptions
    if (rank == 0) Report::get().print(size);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chorus: at MPI_Finalize: %s\n", error.what());
  }
}

/// The attachment this thread has asked for last: looking into MPI's attributes takes longer than a short collective
/// has time for.
struct Last {
  MPI_Comm comm{};
  std::uint64_t detachments = 0;
  Attachment* attachment = nullptr;
};

}  // namespace

bool takes_part() { return stage.load(std::memory_order_acquire) == Stage::running || begin(); }

int finalize() {
  static const auto mpi = reinterpret_cast<decltype(&PMPI_Finalize)>(next_definition("PMPI_Finalize"));
  if (stage.exchange(Stage::over, std::memory_order_acq_rel) == Stage::running) print_report();
  return mpi();
}

Attachment::Attachment(MPI_Comm comm) {
  int between_groups = 0;
  PMPI_Comm_test_inter(comm, &between_groups);
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
  if (between_groups != 0) {
    path_ = Path::intercommunicator;
  } else if (size_ == 1) {
    path_ = Path::one_rank;
  }
}

bool Attachment::set_up_in_time(MPI_Comm comm) {
  if (++calls_ <= calls_before_set_up) return false;
  if (!is_within_world(comm)) {
    path_ = Path::several_jobs;
    return false;
  }
  const Inside inside;
  communicator_ = from_mpi(comm);
  return true;
}

void Attachment::give_up(const Error& error) {
  path_ = Path::settings;
  last_arguments.forget();
  warn(error);
}

bool Attachment::choose(const Call& call) {
  detail::CommunicatorState& state = communicator_->state();
  last_left_ = chorus::left_to_vendor(state, call);
  last_ = call;
  decided_ = state.ready();
  return last_left_;
}

Attachment* Attachment::of(MPI_Comm comm) {
  if (!takes_part() || comm == MPI_COMM_NULL) return nullptr;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Last last;
  const std::uint64_t now = detachments.load(std::memory_order_acquire);
  if (last.comm != comm || last.detachments != now) last = {comm, now, find_or_make(comm)};
  return last.attachment;
}

}  // namespace chorus::preload
