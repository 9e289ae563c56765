// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/float16.hpp>
#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/variable.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus {

/// Where gradients that are longer than `clip_norm` are shortened to it.
enum class Clipping : std::uint8_t {
  none,
  before_reduction,  ///< each replica's own, as tf.distribute does
  after_reduction    ///< their sum: as one device would with the whole batch
};

/// How the gradients of the replicas become one.
struct GradientOptions {
  bool aggregate = true;  ///< false: they are the same on all replicas already
  Clipping clipping = Clipping::none;
  std::optional<double> clip_norm = {};  ///< of all gradients together; given where, and only where, they are clipped
  CommunicationOptions communication = {};
};

namespace detail {
/// Makes the gradients of this replica those of all; returns when they are. Slices then have each index once.
/// `optimizer`: the number of one of its variables, which all replicas compare.
CHORUS_API void aggregate_gradients(const LeafRefs& gradients, const GradientOptions& options, std::uint32_t optimizer);
/// Says in messages for the optimizer of that number which variables it changes.
CHORUS_API void name_optimizer(std::uint32_t number, std::span<const std::string> variables);

/// What the gradient of a variable of type `T` may be.
template <class Gradient, class T>
inline constexpr bool is_gradient_of = std::same_as<Gradient, T>;
template <Leaf T>
inline constexpr bool is_gradient_of<IndexedSlices<T>, T> = true;

template <Leaf T>
void check_gradient(const Variable<T>& variable, const T& gradient) {
  variable.check_shape("apply_gradients", gradient);
}
template <Leaf T>
void check_gradient(const Variable<T>& variable, const IndexedSlices<T>& gradient) {
  variable.check_slices("apply_gradients", gradient);
}
}  // namespace detail

/// What optimizers do alike: aggregate the gradients of the replicas, then change each variable on every replica in the
/// same way. Made in the scope of the variables' strategy, as what it remembers of them are variables, too. Variables
/// are of floating point numbers; those of 16 bits are computed in float, and rounded when they are stored.
template <class Derived, Leaf... T>
class Optimizer {
  static_assert((std::floating_point<detail::ComputedIn<ScalarOf<T>>> && ...),
                "optimizers change variables of floating point numbers");

 public:
  /// Sums the gradients of the replicas, and changes the variables accordingly.
  ///
  /// Shapes   one gradient for each variable, in their order and of their shapes.
  /// Order    every replica calls.
  /// Throws   Error{wrong_context} outside of the replicas; Error{invalid_argument} where only one of `clipping` and
  ///          `clip_norm` is given, or this is not more than 0; what all_reduce throws.
  void apply_gradients(std::tuple<T...> gradients, const GradientOptions& options = {}) {
    apply(std::move(gradients), options);
  }
  /// The same where some of the gradients are IndexedSlices: apply_gradients(std::tuple(slices, dense)).
  /// Throws   also Error{invalid_argument} where slices are not as IndexedSlices says, or of another shape than their
  ///          variable.
  template <class... Gradients>
  requires(sizeof...(Gradients) == sizeof...(T) &&
           (detail::is_gradient_of<Gradients, T> && ...)) void apply_gradients(std::tuple<Gradients...> gradients,
                                                                               const GradientOptions& options = {}) {
    apply(std::move(gradients), options);
  }
  /// How often it has been called.
  [[nodiscard]] std::int64_t steps() const { return steps_.value(); }
  /// Calls visit(name, variables) for what it remembers, which a Checkpoint keeps: the number of steps, and for each
  /// variable "momentum" (Sgd), "m" and "v" (Adam). The variables that it changes are not among them.
  template <class Visit>
  void for_each_saved(Visit&& visit) const {
    visit("steps", steps_);
    static_cast<const Derived*>(this)->for_each_slot(visit);
  }

 protected:
  explicit Optimizer(std::tuple<Variable<T>...> variables)
      : variables_(std::move(variables)), steps_(0, {.name = "optimizer steps", .trainable = false}) {
    const auto names = [](const Variable<T>&... each) { return std::array<std::string, sizeof...(T)>{each.name()...}; };
    detail::name_optimizer(steps_.number(), std::apply(names, variables_));
  }

  /// Something to remember for each variable, 0 at first.
  [[nodiscard]] std::tuple<Variable<T>...> slots(const char* name) const {
    return std::apply([name](const Variable<T>&... each) { return std::tuple(slot(each, name)...); }, variables_);
  }

  std::tuple<Variable<T>...> variables_;  // NOLINT(misc-non-private-member-variables-in-classes): for the derived ones
  Variable<std::int64_t> steps_;          // NOLINT(misc-non-private-member-variables-in-classes)

 private:
  template <class... Gradients>
  void apply(std::tuple<Gradients...> gradients, const GradientOptions& options) {
    [&]<std::size_t... I>(std::index_sequence<I...> /*numbers*/) {
      (detail::check_gradient(std::get<I>(variables_), std::get<I>(gradients)), ...);
      detail::aggregate_gradients(leaves_of(gradients), options, steps_.number());
      steps_.update([](std::int64_t& steps) { ++steps; });
      (static_cast<Derived*>(this)->template change<I>(std::get<I>(gradients)), ...);
    }
    (std::index_sequence_for<T...>());
  }
  template <Leaf U>
  [[nodiscard]] static Variable<U> slot(const Variable<U>& variable, const char* name) {
    return Variable<U>(LeafTraits<U>::make(LeafTraits<U>::shape(variable.value())),
                       {.name = variable.name() + "/" + name, .trainable = false});
  }
};

namespace detail {
/// Calls `change(value, gradient, slot values...)` for each element of this replica's component of `variable`.
template <Leaf T, class Change, class... Slots>
void change_elements(const Variable<T>& variable, const T& gradient, const Change& change, const Slots&... slots) {
  variable.update([&](T& component) {
    using Traits = LeafTraits<T>;
    const std::size_t count = element_count(Traits::shape(component));
    ScalarOf<T>* const values = Traits::data(component);
    const ScalarOf<T>* const by = Traits::data(gradient);
    const auto with = [&](auto*... remembered) {
      for (std::size_t i = 0; i < count; ++i) change(values[i], by[i], remembered[i]...);
    };
    with(Traits::data(const_cast<T&>(slots.value()))...);
  });
}
/// The same for the elements of the rows that the slices name.
template <Leaf T, class Change, class... Slots>
void change_elements(const Variable<T>& variable, const IndexedSlices<T>& gradient, const Change& change,
                     const Slots&... slots) {
  variable.update([&](T& component) {
    ScalarOf<T>* const values = LeafTraits<T>::data(component);
    const auto with = [&](auto*... remembered) {
      join_slices(component, gradient, [&](ScalarOf<T>& value, const ScalarOf<T>& by) {
        const std::ptrdiff_t at = &value - values;
        change(value, by, remembered[at]...);
      });
    };
    with(LeafTraits<T>::data(const_cast<T&>(slots.value()))...);
  });
}
}  // namespace detail

struct SgdOptions {
  double learning_rate = 0.01;  ///< 0 or more
  double momentum = 0;          ///< from 0 to 1
  bool nesterov = false;
};

struct AdamOptions {
  double learning_rate = 0.001;  ///< 0 or more
  double beta_1 = 0.9;           ///< from 0 to less than 1
  double beta_2 = 0.999;         ///< from 0 to less than 1
  double epsilon = 1e-7;         ///< 0 or more
  /// IndexedSlices change the rows that they name only; false: all rows, as zeros in a dense gradient do, since moments
  /// that are not zero go on moving their rows.
  bool lazy = false;
};

namespace detail {
/// Throw   Error{invalid_argument} where a number is none that the optimizer can work with.
[[nodiscard]] CHORUS_API SgdOptions checked(const SgdOptions& options);
[[nodiscard]] CHORUS_API AdamOptions checked(const AdamOptions& options);
}  // namespace detail

/// Stochastic gradient descent with momentum: m = momentum m - rate g; v += m (Nesterov: v += momentum m - rate g).
/// Gradients that are IndexedSlices change the rows that they name, momentum included, and no others.
template <Leaf... T>
class Sgd final : public Optimizer<Sgd<T...>, T...> {
 public:
  /// Throws   Error{invalid_argument} where a number of `options` is none that it may be.
  explicit Sgd(std::tuple<Variable<T>...> variables, const SgdOptions& options = {})
      : Optimizer<Sgd, T...>(std::move(variables)),
        options_(detail::checked(options)),
        momenta_(this->slots("momentum")) {}

 private:
  friend class Optimizer<Sgd, T...>;
  template <std::size_t I, class Gradient>
  void change(const Gradient& gradient) {
    using Scalar = ScalarOf<std::tuple_element_t<I, std::tuple<T...>>>;
    using Computed = detail::ComputedIn<Scalar>;
    const auto rate = static_cast<Computed>(options_.learning_rate);
    const auto momentum = static_cast<Computed>(options_.momentum);
    const auto step = [&](Scalar& value, const Computed& by, Scalar& remembered) {
      const Computed moved = momentum * static_cast<Computed>(remembered) - rate * by;
      remembered = static_cast<Scalar>(moved);
      value = static_cast<Scalar>(static_cast<Computed>(value) +
                                  (options_.nesterov ? momentum * moved - rate * by : moved));
    };
    detail::change_elements(std::get<I>(this->variables_), gradient, step, std::get<I>(momenta_));
  }

  template <class Visit>
  void for_each_slot(const Visit& visit) const {
    visit("momentum", momenta_);
  }

  SgdOptions options_;
  std::tuple<Variable<T>...> momenta_;
};

/// Adam (Kingma and Ba, ICLR 2015, algorithm 1, with the bias corrections in the rate as in its section 2).
template <Leaf... T>
class Adam final : public Optimizer<Adam<T...>, T...> {
 public:
  /// Throws   Error{invalid_argument} where a number of `options` is none that it may be.
  explicit Adam(std::tuple<Variable<T>...> variables, const AdamOptions& options = {})
      : Optimizer<Adam, T...>(std::move(variables)),
        options_(detail::checked(options)),
        first_moments_(this->slots("m")),
        second_moments_(this->slots("v")) {}

 private:
  friend class Optimizer<Adam, T...>;
  template <std::size_t I, Leaf U>
  void change(const IndexedSlices<U>& gradient) {
    if (options_.lazy)
      change_those_of<I>(gradient);
    else
      change_those_of<I>(to_dense(gradient));
  }
  template <std::size_t I, Leaf U>
  void change(const U& gradient) {
    change_those_of<I>(gradient);
  }
  template <std::size_t I, class Gradient>
  void change_those_of(const Gradient& gradient) {
    using Scalar = ScalarOf<std::tuple_element_t<I, std::tuple<T...>>>;
    using Computed = detail::ComputedIn<Scalar>;
    const auto step_number = static_cast<double>(this->steps_.value());
    const auto beta_1 = static_cast<Computed>(options_.beta_1);
    const auto beta_2 = static_cast<Computed>(options_.beta_2);
    const auto epsilon = static_cast<Computed>(options_.epsilon);
    const auto rate =
        static_cast<Computed>(options_.learning_rate * std::sqrt(1 - std::pow(options_.beta_2, step_number)) /
                              (1 - std::pow(options_.beta_1, step_number)));
    const auto step = [&](Scalar& value, const Computed& by, Scalar& first, Scalar& second) {
      const Computed mean = beta_1 * static_cast<Computed>(first) + (1 - beta_1) * by;
      const Computed square = beta_2 * static_cast<Computed>(second) + (1 - beta_2) * by * by;
      first = static_cast<Scalar>(mean);
      second = static_cast<Scalar>(square);
      value = static_cast<Scalar>(static_cast<Computed>(value) - rate * mean / (std::sqrt(square) + epsilon));
    };
    detail::change_elements(std::get<I>(this->variables_), gradient, step, std::get<I>(first_moments_),
                            std::get<I>(second_moments_));
  }

  template <class Visit>
  void for_each_slot(const Visit& visit) const {
    visit("m", first_moments_);
    visit("v", second_moments_);
  }

  AdamOptions options_;
  std::tuple<Variable<T>...> first_moments_;
  std::tuple<Variable<T>...> second_moments_;
};

}  // namespace chorus
