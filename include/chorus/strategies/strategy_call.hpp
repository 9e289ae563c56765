// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/call_purpose.hpp>
#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace chorus {

/// What a program asks of a strategy that makes workers, or replicas, communicate.
enum class StrategyFunction : std::uint8_t {
  none,
  reduce,
  reduce_to,
  batch_reduce_to,
  broadcast_to,
  gather,
  distribute_dataset,
  next_step,
  check_in_sync,
  make_variable,
  read_variable,
  write_variable,
  all_reduce,
  meet,
  end_run,
  save,
  restore,
  manager_save,
  manager_steps,
  apply_gradients,
  update,
  update_non_slot,
  make_strategy
};

/// How replicas write a variable.
enum class VariableWrite : std::uint8_t {
  assign,
  assign_add,
  assign_sub,
  scatter_add,
  scatter_sub,
  scatter_mul,
  scatter_div,
  scatter_min,
  scatter_max,
  scatter_update
};
/// The name of the function, "Variable::assign_add".
[[nodiscard]] CHORUS_API const char* name(VariableWrite write) noexcept;

/// One such call. Those who make it together compare it with what the collectives are that it is made of, and are told
/// where it differs: a sum and an average may be made of the same.
struct CHORUS_API StrategyCall {
  StrategyFunction function = StrategyFunction::none;
  std::optional<ReduceOp> op = {};
  std::uint8_t dimensions = 0;  ///< that are named by axes: bit i stands for dimension i; apply_gradients: how it clips
  std::uint64_t structure = 0;  ///< the same for structures whose leaves have the same shapes; 0: may differ
  /// Of a call of one variable or optimizer its number, from 1: it is compared instead of `structure`.
  std::uint32_t variable = 0;
  std::optional<VariableWrite> write = {};  ///< of write_variable

  /// Its name in messages, "Strategy::reduce".
  [[nodiscard]] const char* name() const noexcept;
  [[nodiscard]] CallPurpose purpose() const noexcept;
  /// Which call it is without its structure: a number, and its text in messages.
  [[nodiscard]] std::uint32_t kind() const noexcept;
  [[nodiscard]] static std::string text_of_kind(std::uint32_t kind);
};

}  // namespace chorus
