// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/call_site.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/values.hpp>

#include <any>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// What the steps of StrategyExtended::run_steps leave behind: values with names, each as the last step that has set it
/// has. Set in the function that run_steps calls, or in the replicas that this one runs.
class CHORUS_API MultiStepContext {
 public:
  /// Keeps `value` as it is. Outside of the replicas; in one, say how the values of all are joined.
  /// Throws   Error{wrong_context} in a replica.
  template <class T>
  void set_last_step_output(const std::string& name, T value) {
    check_outside(name);
    last_step_outputs_[name] = std::move(value);
  }
  /// Keeps the reduction over all replicas: of a PerReplica from outside of them, of a tensor or structure from within.
  /// Order    in replicas every replica calls.
  /// Throws   as Strategy::reduce; as ReplicaContext::merge_call.
  template <class T>
  void set_last_step_output(const std::string& name, T value, ReduceOp op, const CallSite& where = CallSite::here()) {
    if constexpr (detail::Distributed<T>) {
      check_outside(name);
    } else if (ReplicaContext* const replica = get_replica_context()) {
      const auto keep = [&](Strategy& strategy, const PerReplica<T>& values) {
        last_step_outputs_[name] = strategy.reduce(op, values);
      };
      std::string arguments = '"' + name + "\" by " + std::string(chorus::name(op));
      replica->merge_at({.what = "set_last_step_output", .where = where, .arguments = std::move(arguments)}, keep,
                        std::tuple<T>(std::move(value)));
      return;
    }
    last_step_outputs_[name] = get_strategy().reduce(op, std::move(value));
  }
  /// Keeps what is no tensor: outside of the replicas `value`, in them a std::vector of what the replicas of this
  /// worker give, in their order.
  /// Order    in replicas every replica calls.
  template <class T>
  void set_non_tensor_output(const std::string& name, T value, const CallSite& where = CallSite::here()) {
    if (ReplicaContext* const replica = get_replica_context()) {
      const auto keep = [&](Strategy& strategy, const PerReplica<T>& values) {
        non_tensor_outputs_[name] = strategy.local_results(values);
      };
      replica->merge_at({.what = "set_non_tensor_output", .where = where, .arguments = '"' + name + '"'}, keep,
                        std::tuple<T>(std::move(value)));
    } else {
      non_tensor_outputs_[name] = std::move(value);
    }
  }

  // Throws   Error{invalid_argument} where no step has set it, or where it is no T.

  template <class T>
  [[nodiscard]] const T& last_step_output(const std::string& name) const {
    return found<T>(last_step_outputs_, "last_step_output", name);
  }
  template <class T>
  [[nodiscard]] const T& non_tensor_output(const std::string& name) const {
    return found<T>(non_tensor_outputs_, "non_tensor_output", name);
  }
  /// The names of what has been set.
  [[nodiscard]] std::vector<std::string> last_step_outputs() const { return names(last_step_outputs_); }
  [[nodiscard]] std::vector<std::string> non_tensor_outputs() const { return names(non_tensor_outputs_); }
  /// How many steps have been run.
  [[nodiscard]] int steps() const noexcept { return steps_; }

 private:
  friend class StrategyExtended;
  using Outputs = std::map<std::string, std::any>;
  static void check_outside(const std::string& name);
  [[noreturn]] static void reject(const char* function, const std::string& name, bool set);
  [[nodiscard]] static std::vector<std::string> names(const Outputs& outputs);
  template <class T>
  [[nodiscard]] static const T& found(const Outputs& outputs, const char* function, const std::string& name) {
    const auto output = outputs.find(name);
    const T* const value = output != outputs.end() ? std::any_cast<T>(&output->second) : nullptr;
    if (value == nullptr) reject(function, name, output != outputs.end());
    return *value;
  }

  Outputs last_step_outputs_;
  Outputs non_tensor_outputs_;
  int steps_ = 0;
};

template <class Function, class Iterator>
MultiStepContext StrategyExtended::run_steps(const Function& function, Iterator& iterator, int iterations,
                                             MultiStepContext outputs) {
  check_cross_replica("StrategyExtended::run_steps");
  group_->ahead([&] { check_iterations(iterations); });
  const ContextGuard scope = strategy_->scope();
  for (int step = 0; step < iterations; ++step) {
    auto batch = iterator.next();
    if (!batch) break;
    std::invoke(function, outputs, *batch);
    ++outputs.steps_;
  }
  return outputs;
}

}  // namespace chorus
