// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_runtime.hpp"

#include "transport/mpi_caller.hpp"
#include "transport/mpi_endpoints.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_meeting.hpp"
#include "transport/mpi_native.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/notice.hpp"

#include <chorus/detail/launch.hpp>
#include <chorus/environment.hpp>
#include <chorus/interop/mpi.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

namespace chorus {
namespace {

constexpr const char* not_running =
    "MPI is not running; make a chorus::Environment at the start of main, or call MPI_Init, and use chorus before "
    "MPI_Finalize";

using namespace std::chrono_literals;

/// How long ranks that have noticed a late one wait for all others at the end.
constexpr auto end_limit = 5s;

/// How long the end waits for what other ranks say at theirs, as some MPI libraries warn of messages that nobody reads.
constexpr auto farewell_limit = 200ms;

std::atomic<bool> made{false};  // a runtime, of this process or of some simulated rank
std::atomic<bool> peer_lost{false};
std::atomic<bool> peer_late{false};

bool some_peer_is_late() noexcept { return peer_late.load(std::memory_order_relaxed) || some_meeting_is_given_up(); }

/// Whether all ranks of MPI come to this.
bool all_come_within(std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  MPI_Request request = MPI_REQUEST_NULL;
  int come = 0;
  MpiCaller caller;
  caller.watch(limit);
  const auto begins = [&] {
    const MpiCaller::Call call(caller);
    return MPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS;
  };
  const auto goes_on = [&] {
    const MpiCaller::Call call(caller);
    return MPI_Test(&request, &come, MPI_STATUS_IGNORE) == MPI_SUCCESS && come == 0;
  };
  if (!begins()) return false;
  while (goes_on()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return come != 0;
}

/// Once in a job: MPI may have started each process as a program of its own, and nobody would notice.
void warn_of_mismatch() {
  const auto launch = detail::Launch::of_this_process();
  const int ranks = Environment::world_size();
  const std::string mismatch = launch.mismatch(ranks);
  if (launch.speaks(ranks) && !mismatch.empty()) fmt::print(stderr, "chorus: warning: {}\n", mismatch);
}

/// A group that frees itself.
class Group {
 public:
  explicit Group(MPI_Comm comm) { check_mpi(MPI_Comm_group(comm, &group_), "MPI_Comm_group"); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { MPI_Group_free(&group_); }
  [[nodiscard]] MPI_Group get() const noexcept { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

/// The result of a task that waits inside MPI only.
MpiChannel::Number agreed(Task<MpiChannel::Number> task) {
  MpiChannel::Number number = 0;
  Operation operation([](Task<MpiChannel::Number> inner, MpiChannel::Number& result) -> Task<> {
    result = co_await std::move(inner);
  }(std::move(task), number));
  operation.step();
  operation.result();
  return number;
}

}  // namespace

MpiChannel::MpiChannel(MPI_Comm comm, Name name) : name_(name), world_rank_(Environment::world_rank()) {
  check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_group(comm, &group_), "MPI_Comm_group");
  check_mpi(MPI_Comm_create(comm, group_, &comm_), "MPI_Comm_create");  // unlike MPI_Comm_dup copies no attributes
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  int* highest_tag = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest_tag, &known);  // no other communicator has it
  numbers_ = ((known != 0 ? *highest_tag : 32767) - tags_each + 1) / tags_each;
}

MpiChannel::~MpiChannel() {
  if (MpiRuntime::runs()) MPI_Group_free(&group_);
}

std::vector<int> MpiChannel::ranks_of(MPI_Group group) const {
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> here(ranks.size());
  for (int rank = 0; rank < size; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  check_mpi(MPI_Group_translate_ranks(group, size, ranks.data(), group_, here.data()), "MPI_Group_translate_ranks");
  if (std::ranges::count(here, MPI_UNDEFINED) > 0) here.clear();
  return here;
}

int MpiChannel::world_rank(int rank) const {
  if (rank == rank_) return world_rank_;
  if (!MpiRuntime::may_be_called_here()) return no_rank;
  const Group world(MPI_COMM_WORLD);
  int there = MPI_UNDEFINED;
  check_mpi(MPI_Group_translate_ranks(group_, 1, &rank, world.get(), &there), "MPI_Group_translate_ranks");
  return there != MPI_UNDEFINED ? there : no_rank;
}

MpiChannel::Number MpiChannel::lowest_free(Number from) const {
  const auto gap = gaps_.lower_bound(from);
  return gap != gaps_.end() ? *gap : std::max(from, unused_from_);
}

bool MpiChannel::take(Number number) {
  if (number < unused_from_) return gaps_.erase(number) == 1;
  while (unused_from_ < number) gaps_.insert(gaps_.end(), unused_from_++);
  ++unused_from_;
  return true;
}

Task<MpiChannel::Number> MpiChannel::take_number(Highest highest) {
  for (Number candidate = 0;; ++candidate) {
    {
      const std::scoped_lock lock(mutex_);
      receive_farewells();
      candidate = lowest_free(candidate);
    }
    candidate = co_await highest(candidate);
    if (candidate >= numbers_) {
      throw Error(ErrorCode::transport,
                  fmt::format("too many communicators: MPI's tags allow {}; destroy some first", numbers_));
    }
    bool free_here = false;
    {
      const std::scoped_lock lock(mutex_);
      free_here = take(candidate);
    }
    const Number taken_somewhere = co_await highest(free_here ? 0 : 1);
    if (taken_somewhere == 0) co_return candidate;
    if (free_here) release(candidate);
  }
}

void MpiChannel::release(Number number) {
  const std::scoped_lock lock(mutex_);
  gaps_.insert(number);
}

void MpiChannel::release_after_farewell(Number number, int rank) {
  const std::scoped_lock lock(mutex_);
  farewells_.push_back({number, rank});
}

void MpiChannel::receive_farewells() {
  std::erase_if(farewells_, [this](const Awaited& awaited) {
    const int tag = awaited.number * tags_each + notice_channel;
    int there = 0;
    if (MPI_Iprobe(awaited.rank, tag, comm_, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS || there == 0) return false;
    Notice notice;
    MPI_Recv(&notice, sizeof notice, MPI_BYTE, awaited.rank, tag, comm_, MPI_STATUS_IGNORE);
    if (notice.kind != Notice::Kind::end && notice.kind != Notice::Kind::early_end) return false;
    gaps_.insert(awaited.number);
    return true;
  });
}

bool MpiChannel::has_all_farewells() {
  const std::scoped_lock lock(mutex_);
  receive_farewells();
  return farewells_.empty();
}

bool MpiRuntime::runs() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

bool MpiRuntime::wants_progress_thread() noexcept {
  const char* const wish = std::getenv("CHORUS_PROGRESS_THREAD");
  return wish != nullptr && std::string_view(wish) == "1";
}

bool MpiRuntime::may_be_called_here() noexcept {
  if (!runs()) return false;
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  return level == MPI_THREAD_MULTIPLE || is_main != 0;
}

MpiRuntime& MpiRuntime::get(const char* function) {
  if (!runs()) {
    throw Error(ErrorCode::not_initialized, fmt::format("{}: {}", function, not_running));
  }
  return runtime_of_this_rank();
}

MpiRuntime::MpiRuntime() {
  made.store(true, std::memory_order_relaxed);
  int key = MPI_KEYVAL_INVALID;  // MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &key, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, this), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
  warn_of_mismatch();
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_MULTIPLE) {
    entrance_ = std::make_shared<Entrance>(
        "chorus, and MPI runs without MPI_THREAD_MULTIPLE; take turns, or start MPI with it (by "
        "chorus::Environment(chorus::ThreadLevel::multiple) or MPI_Init_thread) and give each thread a communicator "
        "of its own");
  }
  if (!wants_progress_thread()) return;
  if (level == MPI_THREAD_MULTIPLE) {
    progress_thread_.emplace(*engine_);
  } else {
    fmt::print(stderr, "chorus: CHORUS_PROGRESS_THREAD=1 does nothing, as MPI runs without MPI_THREAD_MULTIPLE\n");
  }
}

int MpiRuntime::finalize(MPI_Comm /*comm*/, int /*key*/, void* runtime, void* /*extra*/) {
  try {  // MPI calls this, which knows no exceptions
    static_cast<MpiRuntime*>(runtime)->shut_down();
    return MPI_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chorus: at MPI_Finalize: %s\n", error.what());
    return MPI_ERR_OTHER;
  }
}

void MpiRuntime::shut_down() {
  progress_thread_.reset();
  for (const auto& communicator : communicators_) {
    if (const auto state = communicator.lock()) state->close(not_running);
  }
  world_.reset();
  MpiCaller caller;
  if (peer_lost.load(std::memory_order_relaxed) || some_peer_is_late()) caller.watch(end_limit);
  const auto has_all_farewells = [&](MpiChannel& channel) {
    const MpiCaller::Call call(caller);
    return channel.has_all_farewells();
  };
  const auto end = std::chrono::steady_clock::now() + farewell_limit;
  for (const auto& channel : channels_) {
    while (!has_all_farewells(*channel) && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  }
  {
    const MpiCaller::Call call(caller);
    farewells_.leave();
  }
  communicators_.clear();
  channels_.clear();
}

void MpiRuntime::note_lost_peer() noexcept { peer_lost.store(true, std::memory_order_relaxed); }
void MpiRuntime::note_late_peer() noexcept { peer_late.store(true, std::memory_order_relaxed); }

std::string MpiRuntime::missing_at_the_end() {
  if (made.load(std::memory_order_relaxed)) runtime_of_this_rank().shut_down();  // which may hear of a late rank
  if (peer_lost.load(std::memory_order_relaxed)) return "a lost rank";
  // Who comes to that meeting now would take a barrier of the end for one of the meeting's, and go on alone.
  if (is_given_up(MPI_COMM_WORLD)) return "a rank that has not made a communicator of MPI_COMM_WORLD";
  if (!some_peer_is_late() || all_come_within(end_limit)) return {};
  return fmt::format("a rank that does not come to its end within {} s", end_limit.count());
}

MpiChannel::Name MpiRuntime::name_of_channel_with(MPI_Group group) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(channels_, [&](const auto& it) { return !it->ranks_of(group).empty(); });
  return found != channels_.end() ? (*found)->name() : MpiChannel::Name();
}

std::shared_ptr<MpiChannel> MpiRuntime::channel_named(const MpiChannel::Name& name) {
  for (;;) {  // another thread may be about to add what it has made together with the other ranks
    {
      const std::scoped_lock lock(mutex_);
      const auto found = std::ranges::find_if(channels_, [&](const auto& it) { return it->name() == name; });
      if (found != channels_.end()) return *found;
    }
    std::this_thread::yield();
  }
}

std::shared_ptr<MpiChannel> MpiRuntime::channel_for(MPI_Comm comm, MPI_Group group) {
  MpiChannel::Name name;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) name = name_of_channel_with(group);
  check_mpi(MPI_Bcast(&name, sizeof name, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (name.creator != MPI_UNDEFINED) {  // whoever is on a channel knows it, as it was made by all together
    return channel_named(name);
  }
  if (rank == 0) {
    const std::scoped_lock lock(mutex_);
    MPI_Comm_rank(MPI_COMM_WORLD, &name.creator);
    name.serial = channels_named_++;
  }
  check_mpi(MPI_Bcast(&name, sizeof name, MPI_BYTE, 0, comm), "MPI_Bcast");
  auto channel = std::make_shared<MpiChannel>(comm, name);
  const std::scoped_lock lock(mutex_);
  return channels_.emplace_back(std::move(channel));
}

std::shared_ptr<detail::CommunicatorState> MpiRuntime::make(MPI_Comm comm, const char* function) {
  meet(comm, function, *engine_);
  const Group group(comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::shared_ptr<MpiChannel> channel = channel_for(comm, group.get());
  const std::vector<int> ranks = channel->ranks_of(group.get());
  const MpiChannel::Number number = agreed(channel->take_number([comm](MpiChannel::Number mine) -> Task<int> {
    MpiChannel::Number highest = 0;
    check_mpi(MPI_Allreduce(&mine, &highest, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
    co_return highest;
  }));
  return adopt(make_mpi_transport(rank, channel, ranks, number), comm);
}

std::shared_ptr<detail::CommunicatorState> MpiRuntime::adopt(std::unique_ptr<MpiTransport> transport, MPI_Comm comm) {
  auto peers = make_mpi_peers(*transport, comm);
  auto state = std::make_shared<detail::CommunicatorState>(std::move(transport), std::move(peers), engine_,
                                                           entrance_ ? entrance_ : std::make_shared<Entrance>());
  const std::scoped_lock lock(mutex_);
  std::erase_if(communicators_, [](const auto& known) { return known.expired(); });
  communicators_.push_back(state);
  return state;
}

std::shared_ptr<detail::CommunicatorState> MpiRuntime::world() {
  const std::scoped_lock lock(world_mutex_);
  if (!world_) world_ = make(MPI_COMM_WORLD, "Communicator::world");
  return world_;
}

Communicator Communicator::world() { return Communicator(MpiRuntime::get("Communicator::world").world()); }

Communicator from_mpi(MPI_Comm comm) {
  MpiRuntime& runtime = MpiRuntime::get("from_mpi");
  int between_groups = 0;
  if (comm != MPI_COMM_NULL) check_mpi(MPI_Comm_test_inter(comm, &between_groups), "MPI_Comm_test_inter");
  if (comm == MPI_COMM_NULL || between_groups != 0) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("from_mpi on rank {} of MPI_COMM_WORLD: argument comm is {}", Environment::world_rank(),
                    comm == MPI_COMM_NULL ? "MPI_COMM_NULL; pass a communicator that this process is a rank of"
                                          : "an intercommunicator; make one of both groups by MPI_Intercomm_merge"));
  }
  return Communicator(runtime.make(comm, "from_mpi"));
}

}  // namespace chorus
