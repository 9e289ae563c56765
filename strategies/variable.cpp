// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/variable.hpp>

#include "cross_device_ops/reduction.hpp"
#include "other_strategy.hpp"
#include "sparse/slices_reduction.hpp"
#include "type_text.hpp"
#include "variable_description.hpp"
#include "variable_numbers.hpp"

#include <chorus/allgather.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/extended.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <typeinfo>

namespace chorus {

const char* name(VariableSynchronization synchronization) noexcept {
  constexpr std::array names{"automatic", "none", "on_write", "on_read"};
  return names.at(static_cast<std::size_t>(synchronization));
}

const char* name(VariableAggregation aggregation) noexcept {
  constexpr std::array names{"none", "sum", "mean", "only_first_replica"};
  return names.at(static_cast<std::size_t>(aggregation));
}

ReduceOp reduce_op_of(VariableAggregation aggregation) {
  if (aggregation == VariableAggregation::sum) return ReduceOp::sum;
  if (aggregation == VariableAggregation::mean) return ReduceOp::average;
  throw Error(
      ErrorCode::invalid_argument,
      "reduce_op_of: the aggregation is neither sum nor mean, and no operation stands for it: give one of these");
}

namespace detail {
namespace {

constexpr const char* making = "Variable::Variable";
constexpr const char* writing = "a write to a Variable";

/// What a worker tells the others of a variable that it makes.
struct Making {
  VariableDescription description;
  std::uint32_t number = 0;  ///< that it would give to it
};

/// What a replica makes.
struct Made {
  VariableDescription description;
  const std::type_info* type = nullptr;

  [[nodiscard]] bool same(const Made& other) const { return description == other.description && *type == *other.type; }
};

/// Throws Error{mismatch}, which says in what they differ.
[[noreturn]] void reject_made(const Maker& first_maker, const Made& first, const Maker& other_maker,
                              const Made& other) {
  if (!(first.description == other.description)) {
    reject_different(first_maker, first.description, other_maker, other.description);
  }
  throw Error(ErrorCode::mismatch,
              fmt::format("Variable: {} {} makes \"{}\" as a {}, {} {} as a {}: make variables of the same type in "
                          "every replica",
                          first_maker.who, first_maker.number, first.description.name.data(), type_text(*first.type),
                          other_maker.who, other_maker.number, type_text(*other.type)));
}

/// A variable is what it is: its values are not rounded on their way.
CommunicationOptions uncompressed(CommunicationOptions options) {
  options.compression = Compression::none;
  return options;
}

VariableOptions checked(VariableOptions options, DataType type, bool distributed) {
  const auto reject = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("Variable \"{}\": {}", options.name, why));
  };
  if (options.synchronization == VariableSynchronization::none && distributed) {
    reject("the synchronization none is not for strategies: make it with on_write or on_read");
  }
  if (options.synchronization == VariableSynchronization::automatic) {
    options.synchronization = VariableSynchronization::on_write;
  }
  const bool on_read = options.synchronization == VariableSynchronization::on_read;
  if (on_read && options.trainable == true) {
    reject(
        "what is synchronised on read cannot be trainable, as its components differ: make it with on_write, or not "
        "trainable");
  }
  if (options.aggregation == VariableAggregation::mean && type <= DataType::uint64) {
    reject("the mean of integers is no integer: take another type or aggregation");
  }
  if (options.aggregation == VariableAggregation::sum && type == DataType::boolean) {
    reject("a sum of bool is no bool: take another type or aggregation");
  }
  if (!options.trainable) options.trainable = !on_read;
  return options;
}

}  // namespace

VariableCore::VariableCore(VariableOptions options, DataType type)
    : options_(
          get_strategy().extended().group().ahead([&] { return checked(std::move(options), type, has_strategy()); })),
      strategy_(&get_strategy()) {
  StrategyExtended& extended = strategy_->extended();
  const bool one_for_all = !extended.anywhere() && extended.parameter_devices().size() == 1 && !on_read();
  components_ = one_for_all ? 1 : strategy_->layout().local_replicas;
}

void VariableCore::agree(const TensorRef& initial) {
  ReplicaGroup& group = strategy_->extended().group();
  number_ = unused_variable_number();
  if (group.layout().workers > 1) agree_with_workers(initial);
  name_variable(number_, fmt::format("\"{}\"", options_.name));
}

void VariableCore::agree_with_workers(const TensorRef& initial) {
  ReplicaGroup& group = strategy_->extended().group();
  const Making mine{VariableDescription(options_, initial), number_};
  std::vector<Making> all(static_cast<std::size_t>(group.layout().workers));
  group.together([&] {
    group.announce({.function = StrategyFunction::make_variable});
    allgather(*group.workers(), std::span(&mine, 1), all,
              {.timeout = strategy_->extended().communication_options().timeout});
    group.alike([&] {
      for (std::size_t worker = 1; worker < all.size(); ++worker) {
        const VariableDescription& other = all[worker].description;
        if (!(other == all.front().description)) {
          reject_different({"worker", 0}, all.front().description, {"worker", worker}, other);
        }
      }
    });
    number_ = std::ranges::max(all, {}, &Making::number).number;
    broadcast_of_first(group, initial, strategy_->extended().communication_options());
  });
}

std::shared_ptr<void> VariableCore::object_of_first(const TensorRef& initial, const std::type_info& type,
                                                    const std::shared_ptr<void>& object) const {
  const ReplicaContext* const replica = current_context().replica;
  if (replica == nullptr) return object;
  struct Brought {
    Made made;
    const std::shared_ptr<void>& object;
  } const brought{{VariableDescription(options_, initial), &type}, object};
  const std::vector<const void*> all =
      strategy_->extended().group().meet(replica->local_replica(), {making, {}}, &brought);
  Made first;
  std::shared_ptr<void> first_object;
  std::optional<std::size_t> different;
  Made other;
  {
    const ReplicaGroup::Reading reading(strategy_->extended().group());
    first = static_cast<const Brought*>(all.front())->made;
    first_object = static_cast<const Brought*>(all.front())->object;
    for (std::size_t number = 1; number < all.size() && !different; ++number) {
      other = static_cast<const Brought*>(all[number])->made;
      if (!other.same(first)) different = number;
    }
  }
  strategy_->extended().group().meet(replica->local_replica(), {making, {}});
  const auto first_replica = static_cast<std::size_t>(strategy_->layout().first_replica());
  if (different) reject_made({"replica", first_replica}, first, {"replica", first_replica + *different}, other);
  return first_object;
}

std::string VariableCore::where(const char* caller) const {
  const ReplicaContext* const replica = current_context().replica;
  const std::string in = replica != nullptr ? fmt::format(" in replica {}", replica->replica_id_in_sync_group()) : "";
  return fmt::format("{} of \"{}\"{}", caller, options_.name, in);
}

VariableCore::Access VariableCore::access(const char* function) const {
  const StrategyContext& context = current_context();
  if (context.strategy != nullptr && context.strategy != strategy_) {
    throw Error(
        ErrorCode::wrong_context,
        fmt::format("{}: it belongs to {} and is used in the scope of {}: leave that scope, or make the variable "
                    "in it",
                    where(function), the(*strategy_), beside(*strategy_, *context.strategy)));
  }
  const auto component = [this](int replica) { return components_ == 1 ? 0 : replica; };
  if (context.update_replica) return {Side::update, component(*context.update_replica), true};
  if (context.replica == nullptr) return {};
  const int replica = context.replica->local_replica();
  return {Side::replica, component(replica), component(replica) == replica};
}

bool VariableCore::is_joined(VariableWrite how) const {
  if (options_.aggregation != VariableAggregation::none) return true;
  if (strategy_->num_replicas_in_sync() == 1) return false;
  throw Error(
      ErrorCode::wrong_context,
      fmt::format("{}: it has no aggregation, which would join what the replicas write: make it with one, or write it "
                  "outside of the replicas",
                  where(name(how))));
}

void VariableCore::aggregate(const TensorRef& value, VariableWrite how) const {
  if (!is_joined(how)) return;
  ReplicaContext& replica = *current_context().replica;
  ReplicaGroup& group = strategy_->extended().group();
  const bool of_first = options_.aggregation == VariableAggregation::only_first_replica;
  group.come_to(replica.local_replica(),
                {.function = StrategyFunction::write_variable, .variable = number_, .write = how});
  if (!of_first) {
    strategy_->extended().cross_device_ops().all_reduce(group, replica.local_replica(),
                                                        reduce_op_of(options_.aggregation), std::span(&value, 1),
                                                        uncompressed(strategy_->extended().communication_options()));
    return;
  }
  const CollectiveOptions options{.timeout = strategy_->extended().communication_options().timeout};
  if (replica.local_replica() == 0 && group.workers() != nullptr) broadcast_tensor(*group.workers(), value, options);
  if (group.layout().local_replicas == 1) return;
  group.collectively([&] { broadcast_tensor(group.local(replica.local_replica()), value, options); });
}

void VariableCore::aggregate(const SlicesRef& slices, VariableWrite how) const {
  if (!is_joined(how)) return;
  const ReplicaContext& replica = *current_context().replica;
  const bool of_first = options_.aggregation == VariableAggregation::only_first_replica;
  if (of_first && replica.replica_id_in_sync_group() != 0) slices.resize(0);
  const bool summed = !of_first && (how == VariableWrite::scatter_add || how == VariableWrite::scatter_sub);
  StrategyExtended& extended = strategy_->extended();
  extended.group().come_to(replica.local_replica(),
                           {.function = StrategyFunction::write_variable, .variable = number_, .write = how});
  all_reduce_slices(extended.group(), replica.local_replica(), extended.cross_device_ops(),
                    of_first ? ReduceOp::sum : reduce_op_of(options_.aggregation),
                    summed ? Duplicates::summed : Duplicates::kept, std::span(&slices, 1),
                    uncompressed(extended.communication_options()));
}

void VariableCore::meet_where_shared() const {
  if (!shared()) return;
  strategy_->extended().group().meet(current_context().replica->local_replica(), {writing, {}});
}

int VariableCore::parts() const {
  return options_.aggregation == VariableAggregation::sum ? strategy_->num_replicas_in_sync() : 1;
}

void VariableCore::reject_remainder(const char* function) const {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{}: integers of the value cannot be split over {} replicas without a remainder: make it of a "
                  "floating-point type, or write it in the replicas",
                  where(function), parts()));
}

void VariableCore::check_outside(const char* function) const {
  if (access(function).side == Side::cross) return;
  throw Error(ErrorCode::wrong_context,
              fmt::format("{}: a PerReplica, the values of all replicas, is for outside of the replicas: give this "
                          "one's own value, or call it in the function of a merge_call",
                          where(function)));
}

void VariableCore::check_shape(const char* caller, const Shape& shape, const Shape& given) const {
  if (shape == given) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: it has the shape {} and is given {}: give what has its shape", where(caller),
                          to_string(shape), to_string(given)));
}

void VariableCore::check_slices(const char* caller, const Shape& shape, const SlicesRef& slices) const {
  detail::check_slices(slices, where(caller));
  if (shape == slices.dense_shape()) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{}: slices of a tensor of shape {} for a variable of shape {}: give slices with the dense_shape "
                  "of the variable",
                  where(caller), to_string(slices.dense_shape()), to_string(shape)));
}

void VariableCore::check_may_scatter(VariableWrite how) const {
  if (on_read()) {
    throw Error(ErrorCode::not_supported,
                fmt::format("{}: rows of a variable synchronised on read are not changed by slices: use update, or "
                            "assign_add(to_dense(slices)) in the replicas",
                            where(name(how))));
  }
  const bool joins_replicas =
      options_.aggregation == VariableAggregation::sum || options_.aggregation == VariableAggregation::mean;
  const bool chooses =
      how == VariableWrite::scatter_min || how == VariableWrite::scatter_max || how == VariableWrite::scatter_update;
  if (!joins_replicas || !chooses) return;
  throw Error(
      ErrorCode::not_supported,
      fmt::format("{}: rows that replicas give can be joined so with the aggregations none and only_first_replica, not "
                  "with {}: make it with another one",
                  where(name(how)), chorus::name(options_.aggregation)));
}

void VariableCore::reject_zero() const {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: the values divide integers by 0: give others", where(name(VariableWrite::scatter_div))));
}

void VariableCore::check_may_add(const char* function) const {
  if (options_.aggregation != VariableAggregation::sum || strategy_->num_replicas_in_sync() == 1) return;
  throw Error(
      ErrorCode::wrong_context,
      fmt::format("{}: a sum over the replicas cannot be added to outside of them, as each would add the value: call "
                  "it in the replicas, or assign",
                  where(function)));
}

void VariableCore::read(const ReplicaTensors& components) const {
  if (options_.aggregation == VariableAggregation::none) {
    throw Error(
        ErrorCode::wrong_context,
        fmt::format("{}: it is read outside of the replicas, whose components differ, and has no aggregation to "
                    "join them: make it with one, or read it in the replicas",
                    where("Variable::value")));
  }
  aggregate_all(components, {.function = StrategyFunction::read_variable, .variable = number_});
}

void VariableCore::join(const ReplicaTensors& values, VariableWrite how) const {
  if (options_.aggregation == VariableAggregation::none) {
    throw Error(
        ErrorCode::wrong_context,
        fmt::format("{}: {} replicas have one component, and there is no aggregation to join their values: make the "
                    "variable with one, or give one value for all",
                    where(name(how)), values.size()));
  }
  aggregate_all(values, {.function = StrategyFunction::write_variable, .variable = number_, .write = how});
}

void VariableCore::aggregate_all(const ReplicaTensors& values, const StrategyCall& call) const {
  StrategyExtended& extended = strategy_->extended();
  ReplicaGroup& group = extended.group();
  const bool of_first = options_.aggregation == VariableAggregation::only_first_replica;
  group.together([&] {
    group.announce(call);
    if (!of_first) {
      extended.cross_device_ops().batch_reduce(group, reduce_op_of(options_.aggregation), std::span(&values, 1),
                                               uncompressed(extended.communication_options()));
      if (values.front().bytes() == 0) wait_for_workers(group, extended.communication_options().timeout);
    } else {
      broadcast_of_first(group, values.front(), extended.communication_options());
    }
  });
}

}  // namespace detail
}  // namespace chorus
