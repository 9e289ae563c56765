// SPDX-License-Identifier: Apache-2.0
#include "transport/communicator_state.hpp"

#include "device/find_devices.hpp"
#include "transport/shared_group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace chorus::detail {
namespace {

/// MPI has to advance, as others may wait for messages of this process; it takes longer than to yield.
constexpr int polls_to_advance = 16;

}  // namespace

CommunicatorState::CommunicatorState(std::unique_ptr<Transport> transport, std::unique_ptr<Peers> peers,
                                     const std::shared_ptr<Engine>& engine, std::shared_ptr<Entrance> entrance)
    : Waiter(WaitPolicy{}),
      peers_(std::move(peers)),
      transport_(std::move(transport)),
      engine_(engine ? engine : Engine::of_this_thread()),
      engine_of_caller_(!engine),
      process_(getpid()),
      entrance_(std::move(entrance)) {}

CommunicatorState::~CommunicatorState() {
  if (!broken() && process_ == getpid()) end_calls();
  transport_->set_devices({});  // whose calls are watched with the help of the rest
}

Task<> CommunicatorState::set_up(Call call, bool at_once) {
  if (ready()) co_return;  // a request that was parked meanwhile has done it
  first_call_ = call;
  if (!agreed_) {
    settings_ = peers_->own_settings();
    try {
      settings_ = co_await peers_->agree_on_settings(*transport_);
    } catch (const Refusal&) {
      ++set_ups_refused_;
      throw;
    }
    agreed_ = true;
  }
  Peers::Shared shared = co_await peers_->set_up(*transport_, *this, settings_);
  notes_ = std::move(shared.notes);
  pace_ = shared.pace;
  crowded_ = shared.crowded;
  if (shared.memory) shared.memory->set_pace(shared.pace);
  transport_->compose(std::move(shared.nodes), std::move(shared.memory), shared.native);
  if (shared.asks_for_network && !transport_->nodes().empty()) co_await learn_network(shared.network, at_once);
  ready_.store(true, std::memory_order_release);
  if (settings_.log && transport_->rank() == 0) {
    for (const std::string& note : notes_) fmt::print(stderr, "chorus: {}\n", note);
  }
}

Task<> CommunicatorState::learn_network(NetworkPace known, bool at_once) {
  const std::vector<int>& sizes = transport_->node_sizes();
  const TuningFile::Job job = {
      .crowded = crowded_, .nodes = static_cast<int>(sizes.size()), .senders = senders_across_nodes(sizes)};
  if (settings_.tuning.gives_network(job)) co_return;
  network_ = known;
  if (at_once && !known.covers(sizes)) network_ = co_await measure_network(*transport_);
  if (!network_.known()) co_return;
  remember_network(network_);
  notes_.push_back(fmt::format(
      "messages between nodes: {:.1f} us and {:.0f} MB/s; where all ranks of a node send: {:.1f} us and {:.0f} MB/s",
      network_.latency_us, network_.megabytes_per_second, network_.by_all_latency_us,
      network_.by_all_megabytes_per_second));
}

void CommunicatorState::cancel_parked(const std::exception_ptr& error) {
  set_driven(nullptr);
  engine_->cancel(queue_, error);
}

template <class Finished>
void CommunicatorState::drive_parked(Finished finished) {
  try {
    const Engine::Attendance attendance(*engine_);
    Wait wait(*this);
    while (!finished()) {
      const Progress progress = engine_->progress();
      if (progress == Progress::some) {  // maybe on another communicator: `queue_` counts what moves on this one
        wait.spin_again();
      } else {
        if (progress == Progress::of_another) wait.stop_spinning();  // it may need this core to go on
        wait.pause(nullptr);
      }
    }
  } catch (...) {
    cancel_parked(std::current_exception());
  }
  set_driven(nullptr);
}

void CommunicatorState::finish_parked() {
  drive_parked([this] { return engine_->idle(queue_); });
  check_not_given_up();
}

void CommunicatorState::put_off() {
  HalfDone* const call = std::exchange(given_, nullptr);
  try {
    call->put_off();
  } catch (...) {  // there is no memory for it
    given_ = call;
    throw;
  }
}

void CommunicatorState::wait_for(const ParkedOperation& parked, std::chrono::nanoseconds timeout) {
  timeout_ = timeout;
  set_driven(&parked.operation());
  drive_parked([&parked] { return parked.finished(); });
}

bool CommunicatorState::poll(const ParkedOperation& parked, Wait& polls, std::chrono::nanoseconds timeout) {
  engine_->progress_with_this_threads();
  if (parked.finished()) return true;
  if (peers_->pass_time(Peers::Until::moment)) return false;
  timeout_ = timeout;
  set_driven(&parked.operation());
  try {
    look(polls);
  } catch (...) {
    cancel_parked(std::current_exception());
  }
  set_driven(nullptr);
  return parked.finished();
}

void CommunicatorState::idle(Wait& wait, Bell* bell) {
  const bool others = engine_->progress_with_this_threads();
  if (peers_->pass_time(Peers::Until::message)) return;
  if (wait.idle_polls % polls_to_advance == polls_to_advance - 1) peers_->advance();
  wait.rest(others ? nullptr : bell);
  const bool yielding = wait.idle_polls <= policy().yields;
  if (!yielding || wait.idle_polls % polls_to_advance == 0) look(wait);
}

}  // namespace chorus::detail
