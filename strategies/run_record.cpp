// SPDX-License-Identifier: Apache-2.0
#include "run_record.hpp"

#include "equal_structures.hpp"

#include <chorus/allgather.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace chorus::detail {
namespace {

std::string text_of(std::size_t worker, const RunRecord& record) {
  if (record.count == 0) return fmt::format("worker {} has made none", worker);
  return fmt::format("the last of {} on worker {} is {}", record.count, worker,
                     StrategyCall::text_of_kind(record.last));
}

/// What to look for: the last calls may be the same.
std::string difference_of(const RunRecord& first, std::size_t worker, const RunRecord& other) {
  if (first.count == other.count && first.last == other.last) {
    return fmt::format(
        "the last of {} is {} on worker 0 and on worker {}, but its structure or one of the calls before "
        "it differs: CHORUS_CHECK=collective names the call",
        first.count, StrategyCall::text_of_kind(first.last), worker);
  }
  return fmt::format("{}; {}", text_of(0, first), text_of(worker, other));
}

}  // namespace

void RunRecord::add(const StrategyCall& call) noexcept {
  // Whole numbers instead of bytes, as Fnv1a takes them: it is done for each call.
  const auto mix = [this](std::uint64_t number) {
    calls = (calls ^ number) * 0x9E3779B97F4A7C15U;
    calls ^= calls >> 32U;
  };
  last = call.purpose().number;
  mix(std::uint64_t{last} + 1);
  mix(call.structure);
  ++count;
}

void check_alike(const Communicator& workers, const RunRecord& mine, std::chrono::nanoseconds timeout) {
  std::vector<RunRecord> all(static_cast<std::size_t>(workers.size()));
  allgather(workers, std::span(&mine, 1), all, {.timeout = timeout});
  const RunRecord& first = all.front();
  const auto other = std::ranges::find_if(all, [&](const RunRecord& each) { return each != first; });
  if (other == all.end()) return;
  const auto worker = static_cast<std::size_t>(other - all.begin());
  if (other->calls == first.calls && other->count == first.count) {
    reject_structure_of_worker(worker, "Strategy::run");
  }
  throw Error(ErrorCode::mismatch,
              fmt::format("Strategy::run: since the run before the workers have not made the same calls, so that what "
                          "they have got is wrong: {}: make the same calls in the same order on every worker, and "
                          "restore the variables",
                          difference_of(first, worker, *other)));
}

}  // namespace chorus::detail
