// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/variable_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace chorus::detail {

/// What a variable is called and is, to be compared between replicas and between workers.
struct VariableDescription {
  std::array<char, 128> name{};  ///< of a longer one its beginning and its end
  DataType type = DataType::float32;
  VariableSynchronization synchronization = VariableSynchronization::automatic;
  VariableAggregation aggregation = VariableAggregation::none;
  bool trainable = false;
  StorageOrder order = StorageOrder::row_major;  ///< the same for one dimension
  std::size_t dimensions = 0;
  std::array<std::size_t, 8> shape{};  ///< its first lengths
  std::uint64_t hash = 0;              ///< of the whole name and all lengths
  bool operator==(const VariableDescription&) const = default;

  VariableDescription() = default;
  /// `options`: with what they say by default filled in.
  VariableDescription(const VariableOptions& options, const TensorRef& tensor);
};

/// Who makes a variable.
struct Maker {
  const char* who;  ///< "replica" or "worker"
  std::size_t number;
};
/// Throws Error{mismatch}, which says in what the variables of two makers differ.
[[noreturn]] void reject_different(const Maker& first_maker, const VariableDescription& first, const Maker& other_maker,
                                   const VariableDescription& other);

}  // namespace chorus::detail
