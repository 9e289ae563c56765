// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/variable.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::detail {

/// What is known of a tensor that a checkpoint keeps without asking other workers.
struct CheckpointItemFacts {
  std::string name;
  DataType type;
  bool any_shape;      ///< takes the shape that was saved, with as many dimensions
  Strategy* strategy;  ///< of the variable; null for a plain value
  VariableSynchronization synchronization;
  VariableAggregation aggregation;
};

/// A tensor that a checkpoint keeps, without its type.
class CHORUS_API CheckpointItem {
 public:
  explicit CheckpointItem(CheckpointItemFacts facts);
  CheckpointItem(const CheckpointItem&) = delete;
  CheckpointItem& operator=(const CheckpointItem&) = delete;
  virtual ~CheckpointItem();

  [[nodiscard]] const CheckpointItemFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] bool on_read() const noexcept { return facts_.synchronization == VariableSynchronization::on_read; }
  [[nodiscard]] virtual Shape shape() const = 0;
  /// Its one value; of a variable that is synchronised on read a collective of the workers.
  /// Memory   until it is forgotten, or the variable is written.
  [[nodiscard]] virtual TensorRef value() = 0;
  /// Memory for a value of `shape`, which does not change the variable.
  [[nodiscard]] virtual TensorRef stage(const Shape& shape) = 0;
  /// Gives the variable the value that has been staged. Called by all workers with the same value.
  virtual void restore() = 0;
  /// Forgets what has been read or staged.
  virtual void forget() noexcept = 0;

 private:
  CheckpointItemFacts facts_;
};
using CheckpointItems = std::vector<std::shared_ptr<CheckpointItem>>;

/// The part of the whole number `total` that replica `replica` of `replicas` gets: as equal as can be, and together the
/// total.
template <std::integral Integer>
[[nodiscard]] constexpr Integer part_of(Integer total, int replica, int replicas) {
  using Wide = std::conditional_t<std::is_signed_v<Integer>, long long, unsigned long long>;
  const auto parts = static_cast<Wide>(replicas);
  const auto whole = static_cast<Wide>(total);
  const Wide remainder = whole % parts;
  Wide part = whole / parts;
  if (static_cast<Wide>(replica) < remainder) ++part;
  if constexpr (std::is_signed_v<Integer>) {
    if (static_cast<Wide>(replica) < -remainder) --part;
  }
  return static_cast<Integer>(part);
}

template <Leaf T>
class VariableItem final : public CheckpointItem {
 public:
  VariableItem(const std::string& name, const Variable<T>& variable)
      : CheckpointItem({name, data_type_of<ScalarOf<T>>(), false, &variable.strategy(), variable.synchronization(),
                        variable.aggregation()}),
        variable_(variable) {}

  [[nodiscard]] Shape shape() const override { return LeafTraits<T>::shape(variable_.components().front()); }
  [[nodiscard]] TensorRef value() override {
    if (!on_read()) return tensor_ref(variable_.components().front());
    staged_ = variable_.value();
    return tensor_ref(*staged_);
  }
  [[nodiscard]] TensorRef stage(const Shape& shape) override {
    staged_ = LeafTraits<T>::make(shape);
    return tensor_ref(*staged_);
  }
  void restore() override {
    T value = std::move(*staged_);
    staged_.reset();
    if constexpr (std::integral<ScalarOf<T>>) {
      if (on_read() && facts().aggregation == VariableAggregation::sum) return split(value);
    }
    variable_.assign(std::move(value));
  }
  void forget() noexcept override { staged_.reset(); }

 private:
  /// Gives each component its part of `total`.
  void split(const T& total) const {
    const ReplicaLayout layout = variable_.strategy().layout();
    const std::size_t count = element_count(LeafTraits<T>::shape(total));
    int replica = layout.worker * layout.local_replicas;
    for (T& component : variable_.components()) {
      for (std::size_t i = 0; i < count; ++i) {
        LeafTraits<T>::data(component)[i] =
            part_of(LeafTraits<T>::data(total)[i], replica, layout.workers * layout.local_replicas);
      }
      ++replica;
    }
  }

  Variable<T> variable_;
  std::optional<T> staged_;
};

/// A value of the program's own, which has to outlive this.
template <Leaf T>
class ValueItem final : public CheckpointItem {
 public:
  ValueItem(const std::string& name, T& value)
      : CheckpointItem({name, data_type_of<ScalarOf<T>>(),
                        std::same_as<T, typename LeafTraits<T>::Variable> && LeafTraits<T>::rank != 0, nullptr,
                        VariableSynchronization::none, VariableAggregation::none}),
        value_(&value) {}

  [[nodiscard]] Shape shape() const override { return LeafTraits<T>::shape(*value_); }
  [[nodiscard]] TensorRef value() override { return tensor_ref(*value_); }
  [[nodiscard]] TensorRef stage(const Shape& shape) override {
    staged_ = LeafTraits<T>::make(shape);
    return tensor_ref(*staged_);
  }
  void restore() override {
    *value_ = std::move(*staged_);
    staged_.reset();
  }
  void forget() noexcept override { staged_.reset(); }

 private:
  T* value_;
  std::optional<T> staged_;
};

template <class T>
inline constexpr bool is_variable = false;
template <Leaf T>
inline constexpr bool is_variable<Variable<T>> = true;

struct AnyPartVisitor {
  template <class T>
  void operator()(std::string_view /*name*/, T& /*part*/) const {}
};

/// Tells by itself what is to be kept of it.
template <class T>
concept PartsVisitable = requires(T& object) {
  object.for_each_saved(AnyPartVisitor{});
};

template <class T>
void add_checkpoint_items(CheckpointItems& items, const std::string& name, T& part) {
  using Plain = std::remove_const_t<T>;
  int number = 0;
  [[maybe_unused]] const auto add_number = [&](auto& element) {
    add_checkpoint_items(items, name + "/" + std::to_string(number++), element);
  };
  if constexpr (PartsVisitable<T>) {
    part.for_each_saved([&](std::string_view inner, auto& each) {
      add_checkpoint_items(items, name + "/" + std::string(inner), each);
    });
  } else if constexpr (is_tuple<Plain>) {
    std::apply([&](auto&... elements) { (add_number(elements), ...); }, part);
  } else if constexpr (Leaf<Plain>) {
    static_assert(!std::is_const_v<T>, "what a checkpoint restores cannot be const");
    items.push_back(std::make_shared<ValueItem<Plain>>(name, part));
  } else if constexpr (is_sequence<Plain>) {
    for (auto& element : part) add_number(element);
  } else if constexpr (is_map<Plain>) {
    for (auto& [key, element] : part) add_checkpoint_items(items, name + "/" + key_text(key), element);
  } else {
    static_assert(is_variable<Plain>,
                  "a checkpoint keeps variables, values that are leaves, tuples, vectors and maps of "
                  "these, and what has for_each_saved(visit)");
    const auto item = [&]<Leaf U>(const Variable<U>& variable) {
      items.push_back(std::make_shared<VariableItem<U>>(name, variable));
    };
    item(part);
  }
}

}  // namespace chorus::detail
