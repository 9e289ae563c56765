// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_peers.hpp"

#include "transport/failure_text.hpp"
#include "transport/gathering.hpp"
#include "transport/known_processes.hpp"
#include "transport/launch_line.hpp"
#include "transport/mpi_endpoints.hpp"
#include "transport/mpi_runtime.hpp"
#include "transport/notice.hpp"
#include "transport/shared_group.hpp"
#include "transport/site.hpp"

#include <chorus/environment.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace chorus {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view error_mark = "!";  // starts a text that is no JSON

/// The settings of this process as JSON; or what is wrong with them.
std::string settings_text() {
  try {
    Settings settings = Settings::of_this_process();
    if (!settings.tuning.text.empty()) settings.tuning.here = this_site();
    return settings.to_json();
  } catch (const Error& error) {
    return std::string(error_mark) + error.message();
  }
}

/// As CHORUS_DOMAINS has it.
std::string text_of(std::span<const int> radices) {
  std::string text;
  for (const int radix : radices) {
    if (!text.empty()) text += 'x';
    text += fmt::format("{}", radix);
  }
  return text;
}

/// How this rank's node is divided, or that it is not as CHORUS_DOMAINS says; empty where there is nothing to say.
std::string note_of_shape(const Settings& settings, const SharedGroup* memory) {
  if (memory == nullptr || memory->size() == 1) return {};
  const Radices& radices = memory->shape().radices();
  const std::span<const int> found(radices.of.data(), static_cast<std::size_t>(radices.levels));
  if (!found.empty()) return fmt::format("nodes are divided, from the inside out: {}", text_of(found));
  if (settings.domains.empty()) return {};
  return fmt::format("CHORUS_DOMAINS={} is not for the {} ranks of a node: not divided", text_of(settings.domains),
                     memory->size());
}

/// Whether some hosts have more ranks than others.
bool has_uneven_hosts(std::span<const PeerRecord> records) {
  std::map<std::string_view, int> ranks;
  for (const PeerRecord& record : records) ++ranks[record.host.data()];
  return std::ranges::any_of(ranks, [&](const auto& host) { return host.second != ranks.begin()->second; });
}

/// True once in this process, for a communicator of all ranks.
bool is_first_of_all(const Transport& transport) {
  static std::atomic_flag known;
  return transport.size() == Environment::world_size() && !known.test_and_set();
}

}  // namespace

MpiPeers::MpiPeers(MpiTransport& transport, MPI_Comm comm) : transport_(transport) {
  if (comm != MPI_COMM_NULL) native_.emplace(comm);
}

MpiPeers::~MpiPeers() {
  if (comm_ && native_ && !native_->idle()) comm_->abandon();
}

void MpiPeers::retire(ErrorCode why) noexcept {
  transport_.retire();
  if (why == ErrorCode::peer_lost) MpiRuntime::note_lost_peer();
  if (why == ErrorCode::timeout || why == ErrorCode::transport) MpiRuntime::note_late_peer();
}

bool MpiPeers::is_elsewhere(int rank) const {
  if (transport_.shared() != nullptr) return false;
  if (transport_.node_memory() == nullptr) return rank != transport_.rank();
  const std::vector<int>& nodes = transport_.nodes();
  return nodes[static_cast<std::size_t>(rank)] != nodes[static_cast<std::size_t>(transport_.rank())];
}

std::vector<int> MpiPeers::elsewhere() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < transport_.size(); ++rank) {
    if (is_elsewhere(rank)) ranks.push_back(rank);
  }
  return ranks;
}

void MpiPeers::call_roll() {
  silent_ = elsewhere();
  if (silent_.empty()) return;
  const Notice question{.kind = Notice::Kind::question, .rank = transport_.rank()};
  transport_.notify(question.message(), silent_);
}

Task<Settings> MpiPeers::agree_on_settings(Transport& transport) {
  std::string mine;
  if (transport.rank() == 0) mine = settings_text();
  const std::string text = co_await spread_text(transport, std::move(mine));
  if (text.starts_with(error_mark)) {
    throw detail::Refusal(ErrorCode::invalid_environment, text.substr(error_mark.size()));
  }
  co_return Settings::from_json(text);
}

Task<detail::Peers::Shared> MpiPeers::set_up(Transport& transport, Waiter& waiter, const Settings& settings) {
  Shared shared;
  memory_ = co_await share_memory(transport, settings, records_, shared.notes);
  if (is_first_of_all(transport)) {
    shared.notes.insert(shared.notes.begin(), launch_line(detail::Launch::of_this_process(), records_));
    std::map<int, KnownProcess> processes;
    for (int rank = 0; rank < transport.size(); ++rank) {
      if (const int in_world = world_rank(rank); in_world != no_rank) processes[in_world] = *process_of(rank);
    }
    remember_processes(std::move(processes));
  }
  waiter.set_policy(policy_of(records_[static_cast<std::size_t>(transport.rank())].kernel));
  shared.crowded = is_crowded();
  if (waiter.policy().oversubscribed()) shared.notes.emplace_back("more ranks than cores: waiting ranks yield at once");
  shared.nodes = memory_.nodes;
  shared.memory = make_group(settings, waiter);
  if (const std::string note = note_of_shape(settings, shared.memory.get()); !note.empty()) {
    shared.notes.push_back(note);
  }
  shared.native = native();
  if (native_) native_->know_hosts(has_uneven_hosts(records_));
  shared.pace = co_await agree_on_pace(transport, shared.memory.get(), shared.crowded, paces_of(records_));
  note_crowd(shared.pace);
  const bool spans_nodes = std::ranges::max(shared.nodes) > 0;
  limit_ = spans_nodes ? settings.timeout : 0ns;
  transport_.watch(limit_);
  if (native_) native_->watch(limit_);
  shared.asks_for_network = spans_nodes;
  const auto extent = [](const PeerRecord& record) { return record.network.nodes * record.network.senders; };
  shared.network = std::ranges::max_element(records_, {}, extent)->network;
  shared.notes.emplace_back(memory_.single_copy ? "long blocks of a node by a single copy"
                            : settings.single_copy
                                ? "no single copy: the system lets no rank read and write another's memory"
                                : "no single copy: CHORUS_SINGLE_COPY=0");
  const Pace& pace = shared.pace;
  if (shared.crowded && pace.measured(true)) {
    shared.notes.push_back(fmt::format(
        "shared memory: {:.2f} us a rank for a round; {:.0f} MB/s by plain stores, {:.0f} by streamed ones, "
        "all at a time; read by the system: {:.0f}, long blocks {:.0f}, and {:.1f} us each time",
        pace.round_us, pace.cached, pace.streamed, pace.system, pace.system_long, pace.system_us));
  }
  if (pace.known()) {
    shared.notes.push_back(fmt::format(
        "shared memory: {:.0f} MB/s by plain stores, {:.0f} by streamed ones{}; read by the system: {:.0f}, "
        "long blocks {:.0f}, and {:.1f} us each time",
        pace.cached, pace.streamed, pace.alone > 0 ? fmt::format(", {:.0f} for one rank alone", pace.alone) : "",
        pace.system, pace.system_long, pace.system_us));
  }
  co_return shared;
}

/// Counted over the ranks of one machine; its launcher may know of more than are in this communicator.
MpiPeers::Crowd MpiPeers::crowd_of(std::uint64_t kernel) const {
  std::vector<Binding> bindings;
  std::set<int> nodes;
  int launched = 0;
  for (std::size_t rank = 0; rank < records_.size(); ++rank) {
    const PeerRecord& record = records_[rank];
    if (record.kernel != kernel) continue;
    bindings.push_back(record.binding);
    nodes.insert(memory_.nodes[rank]);
    launched = std::max(launched, record.launched_here);
  }
  const auto known = static_cast<int>(bindings.size());
  const bool all_of_machine = std::ranges::none_of(bindings, &Binding::bound);
  return {.ranks = all_of_machine ? std::max(known, launched) : known,
          .nodes = static_cast<int>(nodes.size()),
          .cores = cores_available(bindings)};
}

WaitPolicy MpiPeers::policy_of(std::uint64_t kernel) const {
  const Crowd crowd = crowd_of(kernel);
  return WaitPolicy::of(crowd.ranks, crowd.cores);
}

std::set<std::uint64_t> MpiPeers::kernels() const {
  std::set<std::uint64_t> kernels;
  for (const PeerRecord& record : records_) kernels.insert(record.kernel);
  return kernels;
}

void MpiPeers::note_crowd(Pace& pace) const {
  for (const std::uint64_t kernel : kernels()) {
    const Crowd crowd = crowd_of(kernel);
    const auto cores = static_cast<float>(crowd.cores);
    pace.ranks_of_core = std::max(pace.ranks_of_core, static_cast<float>(crowd.ranks) / cores);
    pace.nodes_of_core = std::max(pace.nodes_of_core, static_cast<float>(crowd.nodes) / cores);
  }
}

bool MpiPeers::is_crowded() const {
  return std::ranges::any_of(kernels(), [&](std::uint64_t kernel) { return policy_of(kernel).oversubscribed(); });
}

std::unique_ptr<SharedGroup> MpiPeers::make_group(const Settings& settings, Waiter& waiter) const {
  SharedGroup::Members members;
  members.slot_bytes = settings.slot_bytes;
  std::vector<Binding> bindings;
  for (int rank = 0; rank < transport_.size(); ++rank) {
    std::byte* region = memory_.regions[static_cast<std::size_t>(rank)];
    if (region == nullptr) continue;
    if (rank == transport_.rank()) members.rank = static_cast<int>(members.regions.size());
    members.regions.push_back(region);
    members.windows.push_back(memory_.windows[static_cast<std::size_t>(rank)]);
    members.communicator_ranks.push_back(rank);
    bindings.push_back(records_[static_cast<std::size_t>(rank)].binding);
    if (memory_.single_copy) members.processes.push_back(records_[static_cast<std::size_t>(rank)].process.pid);
  }
  if (members.regions.empty()) return nullptr;
  members.shape = settings.domains.empty() ? NodeShape::of(bindings)
                                           : NodeShape::pretended(settings.domains, static_cast<int>(bindings.size()));
  return std::make_unique<SharedGroup>(std::move(members), waiter);
}

std::optional<KnownProcess> MpiPeers::process_of(int rank) const {
  if (!records_.empty()) {
    const PeerRecord& record = records_[static_cast<std::size_t>(rank)];
    if (record.process.pid != 0) return KnownProcess{record.host.data(), record.process};  // has come so far
  }
  return known_process(world_rank(rank));
}

std::string MpiPeers::death_of(int rank) {
  const std::optional<KnownProcess> known = process_of(rank);
  if (!known) return {};
  const char state = state_of(known->process);
  return state == 'Z' || state == 'X' ? fmt::format("its process has died ({})", describe(rank)) : std::string();
}

std::string MpiPeers::describe(int rank) const {
  const int in_world = world_rank(rank);
  const std::optional<KnownProcess> known = process_of(rank);
  return fmt::format(
      "{}{}", in_world == rank || in_world == no_rank ? "" : fmt::format("rank {} of MPI_COMM_WORLD, ", in_world),
      known ? fmt::format("host {}, pid {}, state {}", known->host, known->process.pid, state_of(known->process))
            : "not heard of yet");
}

int MpiPeers::world_rank(int rank) const {
  return transport_.channel()->world_rank(transport_.ranks()[static_cast<std::size_t>(rank)]);
}

void MpiPeers::tell(const Failure& failure) noexcept {
  Notice notice{.rank = failure.rank, .code = failure.code};
  put_text(notice.text, failure.text);
  transport_.notify(notice.message(), elsewhere());
}

// They may be in an earlier call, in which that rank has done its part, but this one gives up.
void MpiPeers::pass_on(const Notice& failure) noexcept {
  const std::vector<int>& nodes = transport_.nodes();
  std::vector<int> mates;
  for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
    const bool mate = nodes[static_cast<std::size_t>(rank)] == nodes[static_cast<std::size_t>(failure.rank)];
    if (mate && rank != failure.rank && is_elsewhere(rank)) mates.push_back(rank);
  }
  if (!mates.empty()) transport_.notify(failure.message(), mates);
}

void MpiPeers::advance() { transport_.advance(); }

std::optional<detail::Peers::Failure> MpiPeers::told() {
  for (Notice notice; transport_.notified(writable_bytes_of(notice)); notice = {}) {
    if (notice.kind == Notice::Kind::failure) {
      pass_on(notice);
      return Failure{notice.rank, notice.code, std::string(notice.text.data(), notice.text_length())};
    }
    if (notice.kind == Notice::Kind::end || notice.kind == Notice::Kind::early_end) {
      ended_ = Ended{notice.rank, notice.calls, notice.kind == Notice::Kind::end};
    } else if (notice.kind == Notice::Kind::question) {
      const Notice answer{.kind = Notice::Kind::answer, .rank = transport_.rank()};
      transport_.notify(answer.message(), std::array{notice.rank});
    } else {
      std::erase(silent_, notice.rank);
    }
  }
  return std::nullopt;
}

// Each rank tells the next one alone: where some have ended and others wait, one that waits comes after one that has
// ended, or after one that passes on what it has heard, and tells all by its error. Not told is who waits for one that
// ends after all those between them have ended, which had made the call without waiting.
// Before the set-up it is so, too: nobody comes through that without all others.
void MpiPeers::end_calls(const Ended& own) noexcept {
  const int size = transport_.size();
  const int next = (transport_.rank() + 1) % size;
  const int previous = (transport_.rank() + size - 1) % size;
  if (!MpiRuntime::may_be_called_here()) return transport_.retire();
  try {
    if (const auto failure = told()) retire(failure->code);
    if (is_elsewhere(previous) && !ended_) transport_.await_farewell(previous);
    const Ended last = ended_ && ended_->set_up == own.set_up && ended_->calls < own.calls ? *ended_ : own;
    const Notice notice{
        .kind = own.set_up ? Notice::Kind::end : Notice::Kind::early_end, .rank = last.rank, .calls = last.calls};
    if (is_elsewhere(next)) transport_.say_farewell(notice.message(), std::array{next});
  } catch (const std::exception&) {
    transport_.retire();
  }
}

Task<std::shared_ptr<detail::CommunicatorState>> MpiPeers::make(Transport& members, const std::vector<int>& ranks) {
  std::vector<int> on_channel;
  for (const int rank : ranks) on_channel.push_back(transport_.ranks()[static_cast<std::size_t>(rank)]);
  const std::shared_ptr<MpiChannel> channel = transport_.channel();
  const MpiChannel::Number number = co_await channel->take_number([&members](MpiChannel::Number mine) -> Task<int> {
    std::vector<MpiChannel::Number> all(static_cast<std::size_t>(members.size()));
    all[static_cast<std::size_t>(members.rank())] = mine;
    const Bytes table = std::as_writable_bytes(std::span(all));
    co_await gather_records(members, table);
    co_return std::ranges::max(all);
  });
  auto transport = make_mpi_transport(members.rank(), channel, std::move(on_channel), number);
  co_return MpiRuntime::get("split").adopt(std::move(transport), MPI_COMM_NULL);
}

Task<Native*> MpiPeers::find_native(Transport& transport) {
  co_await meet_in_memory(transport, {.collective = finding_native});
  // Inside MPI nobody looks at the clock. The first exchange may be waited for, and fail; after the second, which takes
  // no longer than its messages, all ranks go on.
  std::vector<std::byte> here(static_cast<std::size_t>(transport.size()));
  for (int times = 0; times < 2; ++times) co_await gather_records(transport, here);
  comm_.emplace(transport_.channel()->comm(), transport_.ranks(), transport_.number());
  native_.emplace(comm_->get()).know_hosts(has_uneven_hosts(records_));
  native_->watch(limit_);
  co_return &*native_;
}

}  // namespace chorus
