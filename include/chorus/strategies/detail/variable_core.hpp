// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/indexed_slices.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/strategy_call.hpp>
#include <chorus/strategies/variable_options.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace chorus::detail {

/// left / right; integers wrap around, and right is not 0.
template <class T>
[[nodiscard]] constexpr T quotient(const T& left, const T& right) noexcept {
  if constexpr (std::signed_integral<T>) {
    if (right == T{-1}) return static_cast<T>(std::make_unsigned_t<T>{} - static_cast<std::make_unsigned_t<T>>(left));
  }
  return static_cast<T>(left / right);
}

/// What a variable is and who made it, without its type.
class CHORUS_API VariableCore {
 public:
  /// In the context of the thread that makes it.
  /// Throws   Error{invalid_argument} where the options contradict each other or do not suit `type`.
  VariableCore(VariableOptions options, DataType type);

  [[nodiscard]] const VariableOptions& options() const noexcept { return options_; }
  [[nodiscard]] Strategy& strategy() const noexcept { return *strategy_; }
  [[nodiscard]] bool on_read() const noexcept { return options_.synchronization == VariableSynchronization::on_read; }
  [[nodiscard]] int components() const noexcept { return components_; }
  /// Its number, from 1: the same on all workers, and that of no other variable of the process. Once they agree.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

  /// Gives every worker worker 0's `initial`, of a variable that is the same everywhere but for its value, and every
  /// replica of the worker the first one's `object`, which stands for a variable of `type`, where replicas make it.
  /// Throws   Error{mismatch} on every worker or replica where they make different variables.
  void agree(const TensorRef& initial);
  [[nodiscard]] std::shared_ptr<void> object_of_first(const TensorRef& initial, const std::type_info& type,
                                                      const std::shared_ptr<void>& object) const;

  /// Where this thread stands: outside of the replicas, in one of them, or updating one's component.
  enum class Side : std::uint8_t { cross, replica, update };
  struct Access {
    Side side = Side::cross;
    int component = 0;   ///< the one that is meant
    bool writes = true;  ///< this thread writes it: false for replicas of a worker with one component for all
  };
  /// In `function`, which messages name, such as "Variable::value".
  /// Throws   Error{wrong_context} in the scope of another strategy.
  [[nodiscard]] Access access(const char* function) const;

  /// Makes `value`, which each replica gives, what the aggregation says, on every replica.
  /// Throws   Error{wrong_context} where the aggregation is none.
  void aggregate(const TensorRef& value, VariableWrite how) const;
  /// The same of slices: the rows of all replicas, of only_first_replica those of replica 0.
  void aggregate(const SlicesRef& slices, VariableWrite how) const;
  /// Where all replicas have the same component waits for them: before it is written, as they may still read it, and
  /// until it is written.
  void meet_where_shared() const;
  /// Whether several replicas have one component.
  [[nodiscard]] bool shared() const noexcept { return components_ != strategy_->layout().local_replicas; }
  /// Over how many components a value is split that is assigned from outside of the replicas; 1: each gets it.
  [[nodiscard]] int parts() const;
  [[noreturn]] void reject_remainder(const char* function) const;
  /// Throws   Error{wrong_context} in a replica.
  void check_outside(const char* function) const;
  /// Throws   Error{invalid_argument} where `given` is not `shape`, the variable's; `caller` as of `where`.
  void check_shape(const char* caller, const Shape& shape, const Shape& given) const;
  /// Throws   Error{invalid_argument} where `slices` are not as IndexedSlices says, or none of a tensor of `shape`, the
  ///          variable's.
  void check_slices(const char* caller, const Shape& shape, const SlicesRef& slices) const;
  /// Throws   Error{not_supported} for a variable synchronised on read, and where rows that replicas give cannot be
  ///          aggregated so.
  void check_may_scatter(VariableWrite how) const;
  [[noreturn]] void reject_zero() const;
  /// Throws   Error{wrong_context} where adding to all components would add to the sum more than once.
  void check_may_add(const char* function) const;
  /// The one value that `components` stand for, left in the first.
  void read(const ReplicaTensors& components) const;
  /// What the aggregation makes of `values`, one of each replica that has the one component, left in the first.
  /// Throws   Error{wrong_context} where the aggregation is none.
  void join(const ReplicaTensors& values, VariableWrite how) const;

 private:
  /// How messages begin, `Variable::assign of "x" in replica 1`, where `caller` is the function that a program calls.
  [[nodiscard]] std::string where(const char* caller) const;
  /// Whether what replicas write is joined with what others do; a single replica's need not be. Throws where it cannot.
  [[nodiscard]] bool is_joined(VariableWrite how) const;
  void agree_with_workers(const TensorRef& initial);
  /// What the aggregation, which is one, makes of `values`, left in the first; a collective of the workers.
  void aggregate_all(const ReplicaTensors& values, const StrategyCall& call) const;

  VariableOptions options_;
  Strategy* strategy_;
  int components_ = 1;
  std::uint32_t number_ = 0;
};

}  // namespace chorus::detail
