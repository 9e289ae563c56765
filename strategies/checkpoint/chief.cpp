// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/chief.hpp"

#include <chorus/bcast.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/extended.hpp>

#include <fmt/format.h>

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

const Communicator* checked_workers(Strategy& strategy, const char* function) {
  const StrategyContext& context = current_context();
  if (context.replica != nullptr || context.update_replica) {
    throw Error(ErrorCode::wrong_context,
                fmt::format("{}: called in a replica: call it outside of run, once on each worker", function));
  }
  if (context.strategy != nullptr && context.strategy != &strategy) {
    throw Error(ErrorCode::wrong_context,
                fmt::format("{}: it keeps variables of the {} strategy and is called in the scope of a {} strategy",
                            function, strategy.name(), context.strategy->name()));
  }
  return strategy.extended().group().workers();
}

}  // namespace

Chief::Chief(Strategy& strategy, const char* function)
    : workers_(checked_workers(strategy, function)), here_(strategy.extended().should_checkpoint()) {}

void Chief::attempt(const std::function<void()>& work) {
  if (!here_ || failure_) return;
  try {
    work();
  } catch (const Error& error) {
    failure_ = error;
  } catch (const std::exception& error) {
    failure_.emplace(ErrorCode::invalid_argument, fmt::format("checkpoint: {}", error.what()));
  }
}

void Chief::settle() {
  if (workers_ != nullptr) {
    std::array<std::uint64_t, 3> failed{};
    if (failure_) failed = {1, static_cast<std::uint64_t>(failure_->code()), failure_->message().size()};
    bcast(*workers_, failed, 0, {.timeout = patience});
    if (failed[0] == 1) {
      std::string text = failure_ ? failure_->message() : std::string(failed[2], ' ');
      bcast(*workers_, text, 0);
      failure_.emplace(static_cast<ErrorCode>(failed[1]), text);
    }
  }
  if (failure_) throw Error(*failure_);
}

void Chief::share(std::vector<std::int64_t>& numbers) const {
  if (workers_ == nullptr) return;
  std::size_t count = numbers.size();
  bcast(*workers_, std::span(&count, 1), 0);
  numbers.resize(count);
  bcast(*workers_, numbers, 0);
}

}  // namespace chorus
