// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/chief.hpp"

#include "other_strategy.hpp"

#include <chorus/allgather.hpp>
#include <chorus/bcast.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/replica_context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <string>

namespace chorus {
namespace {

/// How long worker 0 may take, whatever CHORUS_TIMEOUT says of messages: files take the time that they take, and a
/// process that dies is noticed all the same.
constexpr std::chrono::hours patience{24};

ReplicaGroup& checked_group(Strategy& strategy, StrategyFunction function) {
  const StrategyContext& context = current_context();
  const char* const name = StrategyCall{.function = function}.name();
  if (context.replica != nullptr || context.update_replica) {
    throw Error(ErrorCode::wrong_context,
                fmt::format("{}: called in {}: call it outside of run, once on each worker", name,
                            context.replica == nullptr
                                ? "the function of an update"
                                : fmt::format("replica {}", context.replica->replica_id_in_sync_group())));
  }
  if (context.strategy != nullptr && context.strategy != &strategy) {
    throw Error(ErrorCode::wrong_context,
                fmt::format("{}: it keeps variables of {} and is called in the scope of {}: leave that scope first",
                            name, the(strategy), beside(strategy, *context.strategy)));
  }
  return strategy.extended().group();
}

std::string text_of(const CheckpointCall& call) {
  if (call.tensors == 0) return fmt::format("{} ({})", StrategyCall{.function = call.function}.name(), call.number);
  return fmt::format("{} of {} tensors ({:016x}, {})", StrategyCall{.function = call.function}.name(), call.tensors,
                     call.checksum, call.number);
}

[[noreturn]] void reject_other_call(const std::vector<CheckpointCall>& all, std::size_t other) {
  throw Error(
      ErrorCode::mismatch,
      fmt::format("Checkpoint: worker 0 calls {}, worker {} {}; in brackets a checksum of their names, types "
                  "and shapes, and the step or the options: make the same calls with the same entries everywhere",
                  text_of(all.front()), other, text_of(all[other])));
}

/// Throws on every worker unless all have made the same call.
void check_alike(ReplicaGroup& group, const CheckpointCall& mine, std::chrono::nanoseconds timeout) {
  if (group.layout().workers == 1) return;
  std::vector<CheckpointCall> all(static_cast<std::size_t>(group.layout().workers));
  group.together([&] {
    group.announce({.function = mine.function});
    allgather(*group.workers(), std::span(&mine, 1), all, {.timeout = timeout});
    const auto other = std::ranges::find_if(all, [&](const CheckpointCall& each) { return each != all.front(); });
    if (other != all.end()) group.alike([&] { reject_other_call(all, static_cast<std::size_t>(other - all.begin())); });
  });
}

}  // namespace

Chief::Chief(Strategy& strategy, const CheckpointCall& call)
    : group_(checked_group(strategy, call.function)),
      function_(call.function),
      here_(strategy.extended().should_checkpoint()) {
  check_alike(group_, call, strategy.extended().communication_options().timeout);
}

const Communicator* Chief::workers() const {
  group_.announce({.function = function_});
  return group_.workers();
}

void Chief::attempt(const std::function<void()>& work) {
  if (!here_ || failure_) return;
  try {
    work();
  } catch (const Error& error) {
    failure_ = error;
  } catch (const std::exception& error) {
    failure_.emplace(ErrorCode::invalid_argument, error.what());
  }
  if (failure_) failure_.emplace(failure_->code(), fmt::format("{}: {}", place(), failure_->message()));
}

std::string Chief::place() const {
  const char* const function = StrategyCall{.function = function_}.name();
  return group_.layout().workers == 1 ? function : fmt::format("{} on worker 0", function);
}

void Chief::settle() {
  group_.further([&] {
    tell_failure();
    group_.alike([&] {
      if (failure_) throw Error(*failure_);
    });
  });
}

void Chief::tell_failure() {
  if (const Communicator* const all = workers()) {
    std::array<std::uint64_t, 3> failed{};
    if (failure_) failed = {1, static_cast<std::uint64_t>(failure_->code()), failure_->message().size()};
    bcast(*all, failed, 0, {.timeout = patience});
    if (failed[0] == 1) {
      std::string text = failure_ ? failure_->message() : std::string(failed[2], ' ');
      bcast(*all, text, 0);
      failure_.emplace(static_cast<ErrorCode>(failed[1]), text);
    }
  }
}

void Chief::share(std::vector<std::int64_t>& numbers) const {
  const Communicator* const all = workers();
  if (all == nullptr) return;
  std::size_t count = numbers.size();
  bcast(*all, std::span(&count, 1), 0);
  numbers.resize(count);
  bcast(*all, numbers, 0);
}

}  // namespace chorus
