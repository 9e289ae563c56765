// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/strategy_call.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>

namespace chorus {
namespace {

constexpr std::array names{"no call",
                           "Strategy::reduce",
                           "reduce_to",
                           "batch_reduce_to",
                           "broadcast_to",
                           "gather",
                           "distribute_dataset",
                           "check_in_sync",
                           "the making of a variable",
                           "the reading of a variable",
                           "the writing of a variable",
                           "all_reduce",
                           "a meeting of the replicas",
                           "the end of Strategy::run",
                           "Checkpoint::save",
                           "Checkpoint::restore",
                           "CheckpointManager::save",
                           "CheckpointManager::steps"};

// A purpose's number, from the lowest bits: the function, the operation (from 1), the dimensions, a checksum.
constexpr unsigned op_at = 5;
constexpr unsigned dimensions_at = 9;
constexpr unsigned checksum_at = 17;
static_assert(names.size() == static_cast<std::size_t>(StrategyFunction::manager_steps) + 1);
static_assert(names.size() <= 1U << op_at && reduce_op_count < 1 << (dimensions_at - op_at));

constexpr std::uint32_t bits(std::uint32_t number, unsigned from, unsigned to) {
  return number >> from & ((1U << (to - from)) - 1U);
}

std::string text_of(std::uint32_t number) {
  std::string text = names.at(bits(number, 0, op_at));
  if (const std::uint32_t op = bits(number, op_at, dimensions_at); op != 0) {
    text += fmt::format(" by {}", name(static_cast<ReduceOp>(op - 1)));
  }
  const std::uint32_t dimensions = bits(number, dimensions_at, checksum_at);
  const char* before = dimensions != 0 ? " along the dimensions " : "";
  for (unsigned i = 0; i < checksum_at - dimensions_at; ++i) {
    if ((dimensions >> i & 1U) == 0) continue;
    text += fmt::format("{}{}", before, i);
    before = ", ";
  }
  if (const std::uint32_t checksum = number >> checksum_at; checksum != 0) {
    text += fmt::format(" (shapes {:04x})", checksum);
  }
  return text;
}

}  // namespace

const char* StrategyCall::name() const noexcept { return names[static_cast<std::size_t>(function)]; }

CallPurpose StrategyCall::purpose() const noexcept {
  const std::uint32_t op_number = op ? static_cast<std::uint32_t>(*op) + 1 : 0;
  const auto checksum = static_cast<std::uint32_t>(structure * 0x9E3779B97F4A7C15U >> 49U);
  return {static_cast<std::uint32_t>(function) | op_number << op_at |
              static_cast<std::uint32_t>(dimensions) << dimensions_at | checksum << checksum_at,
          text_of};
}

}  // namespace chorus
