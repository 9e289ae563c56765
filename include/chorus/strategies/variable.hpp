// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/context.hpp>
#include <chorus/strategies/detail/component_owners.hpp>
#include <chorus/strategies/detail/variable_core.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/values.hpp>
#include <chorus/strategies/variable_options.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace chorus {

/// A tensor that a program keeps and changes under a strategy, made in its scope: each replica has a component of its
/// own (CentralStorageStrategy: all of a worker have one), which is what it reads and writes. Copies of a Variable are
/// the same variable.
///
/// Memory   the strategy outlives the variable and its copies.
/// Order    made by all workers in the same order, in the cross-replica context or by every replica.
template <Leaf T>
class Variable {
 public:
  /// A std::vector, whose elements are no bool objects, is not for bool.
  using Components = std::conditional_t<std::same_as<T, bool>, std::deque<bool>, std::vector<T>>;

  /// Every component is the `initial` of worker 0 (in replicas: of its first).
  /// Throws   Error{invalid_argument} where the options contradict each other: none as synchronization, a trainable
  ///          variable synchronised on read, a mean of integers, a sum of bool; Error{mismatch} where workers or
  ///          replicas make variables that differ in name, type, shape, synchronization, aggregation, or in whether
  ///          they are trainable.
  explicit Variable(T initial, VariableOptions options = {}) {
    const auto mine = std::make_shared<State>(State{{std::move(options), data_type_of<ScalarOf<T>>()}, {}, {}});
    const TensorRef tensor = tensor_ref(initial);
    state_ = std::static_pointer_cast<State>(mine->core.object_of_first(tensor, typeid(T), mine));
    if (state_ == mine) {
      mine->core.agree(tensor);
      mine->components.assign(static_cast<std::size_t>(mine->core.components()), initial);
      detail::remember_owner({mine, &typeid(T), [](const void* state, const void* component) {
                                const Components& own = static_cast<const State*>(state)->components;
                                return std::ranges::any_of(own, [&](const T& each) { return &each == component; });
                              }});
    }
    std::ignore = mine->core.object_of_first(tensor, typeid(T), nullptr);  // the others have it, and it has its value
  }
  /// The same with what `initialize()` gives; it is called everywhere, as it may use random numbers that follow.
  template <std::invocable Initialize>
  requires(!std::same_as<std::remove_cvref_t<Initialize>, Variable>) explicit Variable(Initialize&& initialize,
                                                                                       VariableOptions options = {})
      : Variable(get_strategy().extended().group().ahead([&] { return std::invoke(initialize); }), std::move(options)) {
  }

  [[nodiscard]] const std::string& name() const noexcept { return core().options().name; }
  [[nodiscard]] bool trainable() const noexcept { return *core().options().trainable; }
  [[nodiscard]] VariableSynchronization synchronization() const noexcept { return core().options().synchronization; }
  [[nodiscard]] VariableAggregation aggregation() const noexcept { return core().options().aggregation; }
  [[nodiscard]] Strategy& strategy() const noexcept { return core().strategy(); }

  /// Its value: in a replica that replica's component; elsewhere the first one, or where it is synchronised on read
  /// what the aggregation makes of all, a collective of all workers then.
  /// Memory   until it is written, or read the next time.
  /// Throws   Error{wrong_context} in the scope of another strategy, and where it is synchronised on read without an
  ///          aggregation.
  [[nodiscard]] const T& value() const {
    const auto access = core().access("Variable::value");
    if (access.side != Side::cross || !core().on_read()) return component(access.component);
    Components components = state_->components;
    core().read(tensors_of(components));
    state_->read = std::move(components.front());
    return *state_->read;
  }
  operator const T&() const { return value(); }  // NOLINT(google-explicit-constructor): it stands for its value

  // Writing. In a replica: every replica calls, and every component gets what the aggregation makes of their values;
  // a variable synchronised on read changes in this replica only, without communication. Elsewhere: every component
  // gets the same. In an update: the component that is updated.
  // Throws   Error{invalid_argument} where the value has another shape than the variable, or integers are not divisible
  //          by the number of the replicas that shall have a part; Error{wrong_context} in one of several replicas
  //          where the aggregation is none, in the scope of another strategy, and for adding to a sum that is
  //          synchronised on read from outside of the replicas; what the collectives throw.

  void assign(T value) const {
    write(VariableWrite::assign, std::move(value), [](T& component, const T& given) { component = given; });
  }
  void assign_add(T value) const { add(std::move(value), 1); }
  void assign_sub(T value) const { add(std::move(value), -1); }
  /// Each replica's component gets its own value; one component for all replicas what the aggregation makes of their
  /// values. Outside of the replicas.
  /// Throws   Error{wrong_context} in a replica, and where one component is for several replicas and the aggregation is
  ///          none.
  void assign(const PerReplica<T>& values) const {
    write_own(VariableWrite::assign, values, [](T& component, const T& given) { component = given; });
  }
  /// The same for adding and subtracting.
  void assign_add(const PerReplica<T>& values) const { add(values, 1); }
  void assign_sub(const PerReplica<T>& values) const { add(values, -1); }

  // Changing the rows that slices name, of a tensor with one dimension or more. In a replica: every replica calls, and
  // every component is changed by what the aggregation makes of the rows of all: with the sum or mean, rows of one
  // index are added up for scatter_add and scatter_sub, and act one after the other in scatter_mul and scatter_div; the
  // mean divides each row by the number of replicas. Elsewhere: every component. In an update: the component that is
  // updated.
  // Throws   Error{invalid_argument} where the slices are not as IndexedSlices says, or none of a tensor of the
  //          variable's shape, and where integers are divided by 0; Error{not_supported} for a variable synchronised on
  //          read, and for scatter_min, scatter_max and scatter_update where the aggregation is sum or mean;
  //          Error{wrong_context} in one of several replicas where it is none, and in the scope of another
  //          strategy; what the collectives throw.

  void scatter_add(IndexedSlices<T> slices) const {
    scatter(VariableWrite::scatter_add, std::move(slices), [](const auto& to, const auto& by) { return to + by; });
  }
  void scatter_sub(IndexedSlices<T> slices) const {
    scatter(VariableWrite::scatter_sub, std::move(slices), [](const auto& to, const auto& by) { return to - by; });
  }
  void scatter_mul(IndexedSlices<T> slices) const {
    scatter(VariableWrite::scatter_mul, std::move(slices), [](const auto& to, const auto& by) { return to * by; });
  }
  void scatter_div(IndexedSlices<T> slices) const {
    if constexpr (std::integral<ScalarOf<T>>) {
      using Values = LeafTraits<typename IndexedSlices<T>::Values>;
      const ScalarOf<T>* const values = Values::data(slices.values);
      const std::size_t count = element_count(Values::shape(slices.values));
      if (std::find(values, values + count, ScalarOf<T>{}) != values + count) core().reject_zero();
    }
    scatter(VariableWrite::scatter_div, std::move(slices),
            [](const auto& to, const auto& by) { return detail::quotient(to, by); });
  }
  void scatter_min(IndexedSlices<T> slices) const {
    scatter(VariableWrite::scatter_min, std::move(slices),
            [](const auto& to, const auto& by) { return detail::joined(ReduceOp::min, to, by); });
  }
  void scatter_max(IndexedSlices<T> slices) const {
    scatter(VariableWrite::scatter_max, std::move(slices),
            [](const auto& to, const auto& by) { return detail::joined(ReduceOp::max, to, by); });
  }
  void scatter_update(IndexedSlices<T> slices) const {
    scatter(VariableWrite::scatter_update, std::move(slices), [](const auto& /*to*/, const auto& by) { return by; });
  }

  /// Calls `function(component)`: in a replica, where every replica calls, for its component; nothing makes the
  /// components equal but that the functions do the same. Elsewhere for each component.
  template <std::invocable<T&> Function>
  void update(const Function& function) const {
    update(core().access("Variable::update"), function);
  }

  /// Throws   Error{invalid_argument} where `value` has another shape, which `caller` is told.
  void check_shape(const char* caller, const T& value) const {
    core().check_shape(caller, LeafTraits<T>::shape(component(core().access(caller).component)),
                       LeafTraits<T>::shape(value));
  }
  /// Throws   Error{invalid_argument} where `slices` are none of a tensor of its shape.
  void check_slices(const char* caller, const IndexedSlices<T>& slices) const {
    core().check_slices(caller, LeafTraits<T>::shape(component(core().access(caller).component)),
                        detail::slices_to_read(slices));
  }
  /// Its number, from 1: that of no other variable of this process, and the same on all workers. For optimizers.
  [[nodiscard]] std::uint32_t number() const noexcept { return core().number(); }
  /// The components of this worker, for strategies and checkpoints.
  [[nodiscard]] Components& components() const noexcept { return state_->components; }
  /// The variable that has `component`; none where no variable of this process does.
  [[nodiscard]] static std::optional<Variable> owning(const T& component) {
    auto state = std::static_pointer_cast<State>(detail::owner_of(&component, typeid(T)));
    return state != nullptr ? std::optional(Variable(Made(), std::move(state))) : std::nullopt;
  }
  /// True where both are the same variable.
  friend bool operator==(const Variable& left, const Variable& right) noexcept { return left.state_ == right.state_; }

 private:
  using Side = detail::VariableCore::Side;
  struct State {
    detail::VariableCore core;
    Components components;
    std::optional<T> read;
  };

  struct Made {};
  Variable(Made /*already*/, std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  [[nodiscard]] const detail::VariableCore& core() const noexcept { return state_->core; }
  [[nodiscard]] T& component(int number) const { return state_->components.at(static_cast<std::size_t>(number)); }

  template <class Values>
  [[nodiscard]] static ReplicaTensors tensors_of(Values&& values) {
    ReplicaTensors tensors;
    for (T& each : values) tensors.push_back(tensor_ref(each));
    return tensors;
  }
  template <class Function>
  void update(const detail::VariableCore::Access& access, const Function& function) const {
    if (access.side == Side::cross) {
      for (T& each : state_->components) function(each);
      return;
    }
    if (access.side == Side::replica) core().meet_where_shared();
    if (access.writes) function(component(access.component));
    if (access.side == Side::replica) core().meet_where_shared();
  }

  /// component += sign * given.
  static void add_to(T& component, const T& given, int sign) {
    ScalarOf<T>* const to = LeafTraits<T>::data(component);
    const ScalarOf<T>* const from = LeafTraits<T>::data(given);
    const std::size_t count = element_count(LeafTraits<T>::shape(given));
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = static_cast<ScalarOf<T>>(sign > 0 ? to[i] + from[i] : to[i] - from[i]);
    }
  }
  void check_adds(VariableWrite how) const {
    static_assert(!std::same_as<T, bool>, "bool has no sum: assign it, or take an integer");
    const char* const function = chorus::name(how);
    if (core().access(function).side == Side::cross && core().on_read()) core().check_may_add(function);
  }
  static VariableWrite adding(int sign) { return sign > 0 ? VariableWrite::assign_add : VariableWrite::assign_sub; }
  void add(T value, int sign) const {
    const VariableWrite how = adding(sign);
    check_adds(how);
    write(how, std::move(value), [sign](T& component, const T& given) { add_to(component, given, sign); });
  }
  void add(const PerReplica<T>& values, int sign) const {
    check_adds(adding(sign));
    write_own(adding(sign), values, [sign](T& component, const T& given) { add_to(component, given, sign); });
  }

  template <class Join>
  void scatter(VariableWrite how, IndexedSlices<T> slices, const Join& join) const {
    core().check_may_scatter(how);
    const auto access = core().access(chorus::name(how));
    check_slices(chorus::name(how), slices);
    if (access.side == Side::replica) core().aggregate(SlicesRef(slices), how);
    update(access, [&](T& component) {
      detail::join_slices(component, slices,
                          [&](auto& to, const auto& by) { to = static_cast<ScalarOf<T>>(join(to, by)); });
    });
  }

  /// Makes `total` what each component of a variable synchronised on read gets, so that a read gives `total`
  /// but for rounding.
  void split(const char* function, T& total) const {
    const int parts = core().parts();
    ScalarOf<T>* const elements = LeafTraits<T>::data(total);
    const std::size_t count = parts == 1 ? 0 : element_count(LeafTraits<T>::shape(total));
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::integral<ScalarOf<T>>) {
        using Wide = std::common_type_t<ScalarOf<T>, int>;
        if (static_cast<Wide>(elements[i]) % static_cast<Wide>(parts) != 0) core().reject_remainder(function);
        elements[i] = static_cast<ScalarOf<T>>(static_cast<Wide>(elements[i]) / static_cast<Wide>(parts));
      } else {
        using Divisor = std::conditional_t<sizeof(ScalarOf<T>) == 2, float, ScalarOf<T>>;
        elements[i] = static_cast<ScalarOf<T>>(elements[i] / static_cast<Divisor>(parts));
      }
    }
  }

  /// `apply(component, value)` to every component that this call means, the value aggregated.
  template <class Apply>
  void write(VariableWrite how, T value, const Apply& apply) const {
    const char* const function = chorus::name(how);
    const auto access = core().access(function);
    check_shape(function, value);
    if (access.side == Side::cross) {
      if (core().on_read()) split(function, value);
      for (T& each : state_->components) apply(each, value);
      return;
    }
    const bool together = access.side == Side::replica && !core().on_read();
    if (together) {
      core().aggregate(tensor_ref(value), how);
      core().meet_where_shared();
    }
    if (access.writes) apply(component(access.component), value);
    if (together) core().meet_where_shared();
  }

  /// `apply(component, value)` to each component with the value of its own replica, or what they are joined to. Outside
  /// of the replicas.
  template <class Apply>
  void write_own(VariableWrite how, const PerReplica<T>& values, const Apply& apply) const {
    core().check_outside(chorus::name(how));
    PerReplica<T> given(strategy().layout(), {values.values().begin(), values.values().end()});
    for (const T& each : given.values()) check_shape(chorus::name(how), each);
    if (core().shared()) core().join(tensors_of(given.values()), how);
    for (int i = 0; i < core().components(); ++i) apply(component(i), given[static_cast<std::size_t>(i)]);
  }

  std::shared_ptr<State> state_;
};

template <Leaf T>
T Strategy::reduce(ReduceOp op, const Variable<T>& variable) {
  check_cross_replica("Strategy::reduce", "ReplicaContext::all_reduce");
  extended_->check_owner("Strategy::reduce", variable.name(), variable.strategy());
  return reduce(op, variable.value());
}

template <Leaf T>
auto Strategy::gather(const Variable<T>& variable, int axis) {
  check_cross_replica("Strategy::gather", "ReplicaContext::all_gather");
  extended_->check_owner("Strategy::gather", variable.name(), variable.strategy());
  const auto& own = variable.components();
  std::vector<T> of_replicas(own.begin(), own.end());
  of_replicas.resize(static_cast<std::size_t>(layout().local_replicas), of_replicas.front());
  return gather(PerReplica(layout(), std::move(of_replicas)), axis);
}

template <class Update, class... Args>
auto StrategyExtended::update_for_all(const StrategyCall& call, const ReplicaGroup::Use& use, std::string arguments,
                                      const Update& update, Args&&... args) {
  ReplicaContext* const replica = current_context().replica;
  if (replica == nullptr) return update(args...);
  group_->come_to(replica->local_replica(), call);
  const auto update_all = [&](Strategy&, const auto&... merged) { return update(merged...); };
  return replica->merge_at({.what = call.name(), .in_call = true, .use = use, .arguments = std::move(arguments)},
                           update_all, std::tuple<std::decay_t<Args>...>(args...));
}

template <class Call>
auto StrategyExtended::update_each(std::size_t components, const Call& call) const {
  using Result = std::decay_t<std::invoke_result_t<Call, int>>;
  std::vector<std::conditional_t<std::is_void_v<Result>, char, Result>> results;
  for (std::size_t i = 0; i < components; ++i) {
    const ContextGuard guard(update_context(static_cast<int>(i)));
    if constexpr (std::is_void_v<Result>)
      call(static_cast<int>(i));
    else
      results.push_back(call(static_cast<int>(i)));
  }
  if constexpr (!std::is_void_v<Result>) return results;
}

template <Leaf T, class Function, class... Args>
auto StrategyExtended::update(const Variable<T>& variable, Function&& function, Args&&... args) {
  check_update("StrategyExtended::update");
  check_owner("StrategyExtended::update", variable.name(), variable.strategy());
  const auto update_components = [&](const auto&... all) {
    check_arguments("StrategyExtended::update", all...);
    return update_each(variable.components().size(), [&](int i) {
      return std::invoke(function, variable.components()[static_cast<std::size_t>(i)], detail::component_of(all, i)...);
    });
  };
  return update_for_all({.function = StrategyFunction::update, .variable = variable.number()}, detail::use_of(function),
                        {}, update_components, std::forward<Args>(args)...);
}

template <Leaf... T>
NonSlotDevices StrategyExtended::non_slot_devices(const Variable<T>&... variables) const {
  if (anywhere()) return {{}, std::min({std::string(variables.name())...})};
  return {{parts_.parameter_devices.begin(), parts_.parameter_devices.end()}, {}};
}

template <class Function, class... Args>
auto StrategyExtended::update_non_slot(const NonSlotDevices& where, Function&& function, Args&&... args) {
  check_update("StrategyExtended::update_non_slot");
  check_non_slot(where);
  const std::size_t places = anywhere() ? 1 : where.devices.size();
  const auto update_places = [&](const auto&... all) {
    check_arguments("StrategyExtended::update_non_slot", all...);
    return update_each(places,
                       [&]([[maybe_unused]] int i) { return std::invoke(function, detail::component_of(all, i)...); });
  };
  std::string devices;
  for (const Device& each : where.devices) devices += (devices.empty() ? "" : ", ") + each.name();
  return update_for_all({.function = StrategyFunction::update_non_slot}, detail::use_of(function), std::move(devices),
                        update_places, std::forward<Args>(args)...);
}

template <Leaf T>
const T& StrategyExtended::read_var(const Variable<T>& variable) const {
  check_owner("StrategyExtended::read_var", variable.name(), variable.strategy());
  return variable.value();
}

template <Leaf T>
std::optional<Variable<T>> StrategyExtended::value_container(const T& component) const {
  return Variable<T>::owning(component);
}

template <Leaf T>
ContextGuard StrategyExtended::colocate_vars_with(const Variable<T>& variable) {
  check_owner("StrategyExtended::colocate_vars_with", variable.name(), variable.strategy());
  check_update("StrategyExtended::colocate_vars_with");
  if (current_context().replica != nullptr) return ContextGuard(current_context());
  return strategy_->scope();
}

}  // namespace chorus
