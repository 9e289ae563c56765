// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/strategy_call.hpp>

#include "call_shapes.hpp"
#include "clipping_number.hpp"
#include "variable_numbers.hpp"

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
                           "the next step of a dataset",
                           "check_in_sync",
                           "Variable::Variable",
                           "Variable::value",
                           "a write to a Variable",
                           "all_reduce",
                           "a meeting of the replicas",
                           "the end of Strategy::run",
                           "Checkpoint::save",
                           "Checkpoint::restore",
                           "CheckpointManager::save",
                           "CheckpointManager::steps",
                           "apply_gradients",
                           "StrategyExtended::update",
                           "StrategyExtended::update_non_slot",
                           "MultiWorkerMirroredStrategy"};
constexpr std::array write_names{"Variable::assign",        "Variable::assign_add",  "Variable::assign_sub",
                                 "Variable::scatter_add",   "Variable::scatter_sub", "Variable::scatter_mul",
                                 "Variable::scatter_div",   "Variable::scatter_min", "Variable::scatter_max",
                                 "Variable::scatter_update"};

// A purpose's number, from the lowest bits: the function, the operation (from 1), the dimensions, a checksum. Of the
// calls of a variable the dimensions are the kind of write (from 1), and the checksum stands for the variable.
constexpr unsigned op_at = 5;
constexpr unsigned dimensions_at = 9;
constexpr unsigned checksum_at = 17;
static_assert(names.size() == static_cast<std::size_t>(StrategyFunction::make_strategy) + 1);
static_assert(names.size() <= 1U << op_at && reduce_op_count < 1 << (dimensions_at - op_at));

constexpr std::uint32_t bits(std::uint32_t number, unsigned from, unsigned to) {
  return number >> from & ((1U << (to - from)) - 1U);
}

/// Of a call of a variable, "Variable::assign_add of "loss"", or of an optimizer.
std::string text_of_variable(StrategyFunction function, std::uint32_t way, const std::string& variable) {
  if (function == StrategyFunction::apply_gradients) {
    const std::string clipping = detail::clipping_text(static_cast<std::uint8_t>(way));
    return "apply_gradients to " + variable + (clipping.empty() ? "" : " (" + clipping + ")");
  }
  if (function == StrategyFunction::update) return fmt::format("StrategyExtended::update of {}", variable);
  const bool writes = way != 0 && way <= write_names.size();
  return fmt::format("{} of {}", writes ? write_names.at(way - 1) : "Variable::value", variable);
}

bool is_of_variable(StrategyFunction function) {
  return function == StrategyFunction::read_variable || function == StrategyFunction::write_variable ||
         function == StrategyFunction::apply_gradients || function == StrategyFunction::update;
}

std::string text_of(std::uint32_t number) {
  const auto function = static_cast<StrategyFunction>(bits(number, 0, op_at));
  if (is_of_variable(function)) {
    return text_of_variable(function, bits(number, dimensions_at, checksum_at),
                            detail::name_of_variable(number >> checksum_at));
  }
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
    text += fmt::format(" of {}", detail::tensors_of(checksum));
  }
  return text;
}

}  // namespace

const char* StrategyCall::name() const noexcept { return names[static_cast<std::size_t>(function)]; }

CallPurpose StrategyCall::purpose() const noexcept {
  if (variable != 0) return {kind(), text_of};
  return {kind() | detail::checksum_of_structure(structure) << checksum_at, text_of};
}

std::uint32_t StrategyCall::kind() const noexcept {
  const std::uint32_t op_number = op ? static_cast<std::uint32_t>(*op) + 1 : 0;
  const std::uint32_t way = write ? static_cast<std::uint32_t>(*write) + 1 : dimensions;
  return static_cast<std::uint32_t>(function) | op_number << op_at | way << dimensions_at |
         detail::checksum_of_variable(variable) << checksum_at;
}

std::uint32_t detail::checksum_in(std::uint32_t purpose) noexcept {
  return is_of_variable(static_cast<StrategyFunction>(bits(purpose, 0, op_at))) ? 0 : purpose >> checksum_at;
}

std::string StrategyCall::text_of_kind(std::uint32_t kind) { return text_of(kind); }

const char* name(VariableWrite write) noexcept { return write_names.at(static_cast<std::size_t>(write)); }

}  // namespace chorus
