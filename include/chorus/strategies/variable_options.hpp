// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace chorus {

/// When the components of a variable are made equal.
enum class VariableSynchronization : std::uint8_t {
  automatic,  ///< on_write
  none,       ///< not allowed under a strategy
  on_write,   ///< whenever it is written: they always are
  on_read     ///< when it is read outside of the replicas: each replica writes its own, as metrics do
};

/// How what the replicas write is made one value.
enum class VariableAggregation : std::uint8_t {
  none,               ///< one of several replicas cannot write it
  sum,                ///< the sum of what they write
  mean,               ///< its mean
  only_first_replica  ///< what replica 0 writes
};

/// Their names as they are spelled in the source, for messages and checkpoints.
[[nodiscard]] CHORUS_API const char* name(VariableSynchronization synchronization) noexcept;
[[nodiscard]] CHORUS_API const char* name(VariableAggregation aggregation) noexcept;

/// The operation of an aggregation.
/// Throws   Error{invalid_argument} for none and only_first_replica, which have none.
[[nodiscard]] CHORUS_API ReduceOp reduce_op_of(VariableAggregation aggregation);

struct VariableOptions {
  std::string name = "variable";
  VariableSynchronization synchronization = VariableSynchronization::automatic;
  VariableAggregation aggregation = VariableAggregation::none;
  std::optional<bool> trainable = {};  ///< none: true, but false where it is synchronised on read
};

}  // namespace chorus
