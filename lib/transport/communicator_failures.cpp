// SPDX-License-Identifier: Apache-2.0
// Why a communicator refuses a call or breaks, and what is said then.

#include "base/callers_function.hpp"
#include "base/names.hpp"
#include "device/find_devices.hpp"
#include "transport/communicator_state.hpp"
#include "transport/shared_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <thread>
#include <vector>

namespace chorus::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto process_interval = 50ms;
constexpr auto laggard_limit = 500ms;  // how long a mismatch waits for ranks on their way into the call
constexpr auto laggard_interval = 1ms;
constexpr auto answer_limit = 500ms;  // how long ranks that wait have to say so; of a short limit, half of it
constexpr std::size_t most_named = 16;

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

/// `waited` comes so close to `due`, where there is such a time, that the others have to be asked now.
bool is_close(std::chrono::nanoseconds waited, std::chrono::nanoseconds due) {
  return due > 0ns && waited > due - std::min<std::chrono::nanoseconds>(answer_limit, due / 2);
}

/// The rank with that number has begun no more calls than `after`, and `call` is one.
Error ended_before(int ended, std::uint64_t call, const std::string& after) {
  return {ErrorCode::mismatch,
          fmt::format("rank {} does not make this call, #{} on this communicator, as it has ended with it after {}; "
                      "all ranks must make the same calls",
                      ended, call, after)};
}

}  // namespace

std::string CommunicatorState::who() const {
  const int in_world = peers_->world_rank(rank());
  return in_world == rank() ? fmt::format("rank {}", rank())
                            : fmt::format("rank {} (rank {} of MPI_COMM_WORLD)", rank(), in_world);
}

std::string CommunicatorState::ranks_in_world() const {
  std::string text;
  bool all_alike = true;
  for (int rank = 0; rank < size(); ++rank) {
    const int in_world = peers_->world_rank(rank);
    if (in_world == no_rank) return {};  // of another job
    all_alike = all_alike && in_world == rank;
    if (static_cast<std::size_t>(rank) < most_named) text += fmt::format("{}{}", rank == 0 ? "" : ", ", in_world);
  }
  if (all_alike) return {};
  return fmt::format("\n  these are, from rank 0 on, {}{} of MPI_COMM_WORLD", text,
                     static_cast<std::size_t>(size()) > most_named ? ", ..." : "");
}

void CommunicatorState::reject_visit(const Call& call) const {
  const std::string why = CallersFunction::here()
                              ? "it is called in the function of a reduction, which may call no collective"
                              : fmt::format("another thread is inside {}", entrance_->what());
  throw Error(ErrorCode::invalid_argument, fmt::format("{} on {}: {}", name(call.collective), who(), why));
}

void CommunicatorState::refuse(const Call& call) {
  try {
    const auto held = engine_->hold();  // other threads drive what is parked here, too, and may break it
    if (broken()) reject_as_broken(call);
    try {
      check_devices();
    } catch (...) {
      fail(call);
    }
  } catch (...) {
    cancel_parked(std::current_exception());
    throw;
  }
}

void CommunicatorState::reject_as_broken(const Call& call) const {
  if (failure_->code() == ErrorCode::not_initialized) end_with_another(call);
  throw Error(
      ErrorCode::broken,
      fmt::format("{} on {}: the communicator is broken since {}; make a new one by chorus::from_mpi or "
                  "thread_communicators (or by MPI_Comm_dup where chorus is preloaded), as its dup and split, and "
                  "Communicator::world(), stay broken. {}: {}",
                  name(call.collective), who(), revoked_here_ ? "this rank has revoked it" : "an earlier call failed",
                  revoked_here_ ? "It said" : "That call said", failure_->message()));
}

void CommunicatorState::end_with_another(const Call& call) const {
  const bool alone = revoked_here_ || failure_->code() == ErrorCode::not_initialized;  // without another call
  throw Error(failure_->code(),
              fmt::format("{} on {}: {}{}", chorus::describe(call, purpose_text_), who(),
                          alone ? "" : "given up with an earlier call, which said: ", failure_->message()));
}

void CommunicatorState::end_calls() noexcept {
  if (SharedGroup* memory = transport_->node_memory()) {
    const auto failure = memory->failure_of_others();  // of which this rank has noticed nothing
    if (failure) peers_->retire(static_cast<ErrorCode>(failure->code));
    memory->end_calls();
  }
  if (!settle_devices()) return;
  if (entrance_->taken()) return peers_->retire(ErrorCode::broken);  // MPI may not be called here
  peers_->end_calls({.rank = rank(), .calls = ready() ? calls_begun_ : set_ups_refused_, .set_up = ready()});
}

void CommunicatorState::close(const std::string& reason) {
  if (!broken()) {
    end_calls();
    failure_.emplace(ErrorCode::not_initialized, reason);
    close_memory();
    standing_.store(Standing::broken, std::memory_order_release);
  }
  cancel_parked(std::make_exception_ptr(Error(*failure_)));
  transport_->set_devices({});
}

void CommunicatorState::look(Wait& wait) {
  if (!wait.look()) return;
  const auto held = engine_->hold();  // other threads drive what is parked here, too
  look_at_failures();
  look_for_ended_ranks();
  if (wait.looked - wait.examined >= process_interval) {
    wait.examined = wait.looked;
    look_at_processes();
  }
  const bool ends_soon = is_close(wait.waited(), limit());
  if (wait.has_moved(queue_.moves + transport_->segments_moved())) {
    wait.warned = false;
    if (!ends_soon) wait.asked = {};
  }
  const std::chrono::nanoseconds warning = wait.warned ? 0ns : settings_.stall_warning;
  if (ends_soon || is_close(wait.stood_still(), warning)) call_roll(wait);
  if (limit() > 0ns && wait.waited() > limit()) {
    throw Error(ErrorCode::timeout,
                fmt::format("rank {} has waited {:.3g} s, its limit{}", rank(), seconds(limit()), missing_ranks()));
  }
  if (warning > 0ns && wait.stood_still() > warning) {
    wait.warned = true;
    wait.asked = {};
    warn_of_stall(wait);
  }
}

void CommunicatorState::call_roll(Wait& wait) const {
  if (wait.asked != Wait::Clock::time_point{}) return;
  wait.asked = wait.looked;
  peers_->call_roll();
}

void CommunicatorState::look_at_failures() const {
  if (const SharedGroup* memory = transport_->node_memory()) memory->check_others();
  if (const auto failure = peers_->told()) {
    throw GivenUp(failure->code, failure->rank, failure->text);
  }
  check_devices();
}

void CommunicatorState::look_for_ended_ranks() const {
  look_for_ended_ranks_elsewhere();
  if (!ready()) return;
  const SharedGroup* memory = transport_->node_memory();
  const std::optional<int> ended = memory != nullptr ? memory->missing_for_ever() : std::nullopt;
  if (!ended) return;
  throw ended_before(memory->communicator_rank(*ended), memory->calls_begun(), last_call_of(*ended, ", "));
}

void CommunicatorState::look_for_ended_ranks_elsewhere() const {
  const auto ended = peers_->ended();
  if (!ended) return;
  if (!ready()) {
    if (ended->set_up || ended->calls > set_ups_refused_) return;  // it has done its part
    throw Error(ErrorCode::mismatch,
                fmt::format("rank {} does not make this call, the first on this communicator, as it has ended with it "
                            "before; see whether it has failed there; all ranks must make the same calls",
                            ended->rank));
  }
  if (ended->calls >= calls_begun_) return;
  throw ended_before(ended->rank, calls_begun_, ended->calls == 0 ? "none" : fmt::format("#{}", ended->calls));
}

void CommunicatorState::look_at_processes() const {
  for (int rank = 0; rank < transport_->size(); ++rank) {
    const std::string death = peers_->death_of(rank);
    if (death.empty()) continue;
    look_at_what_was_told();
    throw lost(rank, death);
  }
}

Error CommunicatorState::lost(int rank, const std::string& death) {
  return {ErrorCode::peer_lost,
          fmt::format("rank {} is lost: {}; see what it has printed last and, where it was killed, the system's log; "
                      "the job has to be started again",
                      rank, death)};
}

void CommunicatorState::look_at_what_was_told() const {
  look_at_failures();
  look_at_failures_of_node({});
}

void CommunicatorState::look_at_failures_of_node(const std::string& of_mismatch) const {
  const SharedGroup* const memory = transport_->node_memory();
  for (int peer = 0; memory != nullptr && peer < memory->size(); ++peer) {
    const auto failure = memory->failure_of(peer);
    if (!failure) continue;
    const std::string& text = failure->text.empty() ? of_mismatch : failure->text;
    if (!text.empty()) throw GivenUp(static_cast<ErrorCode>(failure->code), memory->communicator_rank(peer), text);
  }
}

std::string CommunicatorState::missing_ranks() const {
  const SharedGroup* memory = transport_->node_memory();
  std::string text = ready() ? std::string() : set_up_under_way();
  if (memory != nullptr) {
    for (int peer = 0; peer < memory->size(); ++peer) {
      if (!memory->is_behind(peer)) continue;
      const int rank = memory->communicator_rank(peer);
      text += fmt::format("{}rank {} ({}; last call: {})", text.empty() ? "; not arrived: " : ", ", rank,
                          peers_->describe(rank), last_call_of(peer, " "));
    }
  }
  const std::vector<int> silent = peers_->silent();
  for (std::size_t number = 0; number < std::min(silent.size(), most_named); ++number) {
    text += fmt::format("{} rank {} ({})", number == 0 ? "; no answer from" : ",", silent[number],
                        peers_->describe(silent[number]));
  }
  if (silent.size() > most_named) text += fmt::format(" and {} more", silent.size() - most_named);
  if (!ready() && silent.empty()) text += ": any rank may be the one that has not come to it";
  return text.empty() ? waited_for() : text;
}

std::string CommunicatorState::last_call_of(int peer, const char* separator) const {
  const SharedGroup& memory = *transport_->node_memory();
  const std::uint64_t in_streams = memory.stream_calls(peer), of_this_rank = memory.stream_calls(memory.rank());
  if (in_streams < of_this_rank) return fmt::format("{} of {} that go into streams", in_streams, of_this_rank);
  const auto last = memory.recorded(peer);
  if (!last) return "none";
  return fmt::format("#{}{}{}", last->number, separator, chorus::describe(last->call, purpose_text_));
}

std::string CommunicatorState::waited_for() const {
  if (driven() == nullptr || driven()->waiting() == nullptr) return {};
  return fmt::format(
      "; all ranks that it sees have begun that call, and it is {}; a rank that has begun a nonblocking call goes on "
      "with it inside chorus alone: let it call test or wait, or set CHORUS_PROGRESS_THREAD=1{}",
      driven()->waiting()->describe(),
      transport_->nodes().empty() ? ""
                                  : "; where another node may be in another call, CHORUS_CHECK=collective finds it");
}

std::string CommunicatorState::set_up_under_way() const {
  const PolledEvent* const event = driven() != nullptr ? driven()->waiting() : nullptr;
  return fmt::format("; it is {} in the first call on this communicator, which sets it up",
                     event != nullptr ? event->what() : "waiting");
}

void CommunicatorState::warn_of_stall(const Wait& wait) const {
  if (const SharedGroup* memory = transport_->node_memory()) {  // one line a node: from the first rank that waits
    for (int peer = 0; peer < memory->rank(); ++peer) {
      if (!memory->is_behind(peer)) return;
    }
    const auto mine = memory->recorded(memory->rank());
    fmt::print(stderr, "chorus: rank {} has waited {:.3g} s in call #{} {}{}\n", transport_->rank(),
               seconds(wait.stood_still()), memory->calls_begun(),
               mine ? chorus::describe(mine->call, purpose_text_) : std::string(), missing_ranks());
  } else {
    const bool first = !ready() && first_call_.has_value();
    fmt::print(stderr, "chorus: rank {} has waited {:.3g} s{}{}\n", transport_->rank(), seconds(wait.stood_still()),
               first ? " in " + chorus::describe(*first_call_, purpose_text_) : std::string(), missing_ranks());
  }
}

std::map<int, std::optional<Call>> CommunicatorState::calls_of_node(std::uint64_t number) const {
  const SharedGroup& memory = *transport_->node_memory();
  std::map<int, std::optional<Call>> calls;
  for (int peer = 0; peer < memory.size(); ++peer) {
    const auto recorded = memory.recorded(peer, number);
    calls[memory.communicator_rank(peer)] = recorded ? std::optional(recorded->call) : std::nullopt;
  }
  return calls;
}

Error CommunicatorState::mismatch(const Call& call) const {
  const SharedGroup& memory = *transport_->node_memory();
  std::uint64_t number = memory.calls_begun();
  if (const auto failure = memory.failure_of_others()) {  // it may have been an earlier call, which has not waited here
    if (const auto last = memory.recorded(failure->rank)) number = std::min(number, last->number);
  }
  const auto limit = Wait::Clock::now() + laggard_limit;
  for (int peer = 0; peer < memory.size(); ++peer) {
    auto last = memory.recorded(peer);
    while ((!last || last->number < number) && Wait::Clock::now() < limit) {
      std::this_thread::sleep_for(laggard_interval);
      last = memory.recorded(peer);
    }
  }
  const auto differ = [](const std::map<int, std::optional<Call>>& calls) {
    const auto known = [](const auto& call) { return call.second.has_value(); };
    return std::ranges::all_of(calls, known) &&
           std::ranges::any_of(calls, [&](const auto& call) { return call.second != calls.begin()->second; });
  };
  // It may have been an earlier call, in which nobody had to wait.
  std::uint64_t first = number > call_records ? number - call_records + 1 : 1;
  while (first < number && !differ(calls_of_node(first))) ++first;
  number = first;
  return {ErrorCode::mismatch,
          fmt::format("{} on {}: the ranks disagree about call #{} on this communicator; all must make the same "
                      "call:{}{}\n ",
                      name(call.collective), who(), number,
                      mismatch_report(calls_of_node(number), algorithm_name, purpose_text_), ranks_in_world())};
}

void CommunicatorState::tell(const Error& error) {
  if (SharedGroup* memory = transport_->node_memory()) {
    memory->publish_failure(static_cast<int>(error.code()), error.message());
  }
  peers_->tell({transport_->rank(), error.code(), error.message()});
}

void CommunicatorState::close_memory() noexcept {
  if (SharedGroup* memory = transport_->node_memory()) memory->close();
}

void CommunicatorState::give_up(const Error& error) {
  tell(error);
  break_with(error);
}

void CommunicatorState::revoke(const std::string& why) {
  const Call call{.collective = revoking};
  const Entrance::Visit visiting = visit(call);
  {
    const auto held = engine_->hold();  // other threads drive what is parked here, too, and may break it
    if (broken()) {
      if (failure_->code() == ErrorCode::not_initialized) end_with_another(call);
      return;
    }
    failure_ = GivenUp(ErrorCode::revoked, rank(), why);
    revoked_here_ = true;
    standing_.store(Standing::broken, std::memory_order_release);
    peers_->retire(ErrorCode::revoked);
    tell({ErrorCode::revoked, why});
  }
  abandon_devices();
  close_memory();
  cancel_parked(std::make_exception_ptr(Error(*failure_)));
}

void CommunicatorState::break_with(const Error& error) {
  peers_->retire(error.code());
  abandon_devices();
  close_memory();
  failure_ = error;
  standing_.store(Standing::broken, std::memory_order_release);
  throw error;
}

void CommunicatorState::fail(const Call& call) {
  if (broken()) end_with_another(call);
  const auto named = [&](const std::string& text) {
    return fmt::format("{} on {}: {}", chorus::describe(call, purpose_text_), who(), text);
  };
  try {
    throw;
  } catch (const Refusal& error) {
    throw Error(error.code(), fmt::format("{} on {}: {}", name(call.collective), who(), error.message()));
  } catch (const MismatchFound&) {
    transport_->node_memory()->publish_failure(static_cast<int>(ErrorCode::mismatch), {});  // as each makes a table
    give_up(mismatch(call));
  } catch (const GivenUp& error) {
    break_with({error.code(), named(error.message())});
  } catch (const Error& error) {
    give_up({error.code(), named(error.message())});
  } catch (const std::exception& error) {
    give_up({ErrorCode::transport, named(error.what())});
  }
}

}  // namespace chorus::detail
