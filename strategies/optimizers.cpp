// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/optimizers.hpp>

#include "clipping_number.hpp"
#include "variable_numbers.hpp"
#include "with_type.hpp"

#include <chorus/detail/fnv1a.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <span>
#include <utility>

namespace chorus::detail {
namespace {

/// visit(elements), of their type: optimizers have floating point numbers alone.
template <class Visit>
void visit_elements(const TensorRef& gradient, const Visit& visit) {
  with_type(gradient.type, [&]<class T>() {
    if constexpr (std::floating_point<ComputedIn<T>>)
      visit(std::span(reinterpret_cast<T*>(gradient.data), gradient.count()));
  });
}

/// Shortens the gradients, seen as one vector, to `norm`.
void clip(const LeafRefs& leaves, double norm) {
  std::vector<TensorRef> gradients = leaves.tensors;
  for (const SlicesRef& slices : leaves.slices) gradients.push_back(slices.values());
  double sum = 0;
  for (const TensorRef& gradient : gradients) {
    visit_elements(gradient, [&](const auto& elements) {
      for (const auto& each : elements) sum += static_cast<double>(each) * static_cast<double>(each);
    });
  }
  const double length = std::sqrt(sum);
  if (length <= norm) return;
  for (const TensorRef& gradient : gradients) {
    visit_elements(gradient, [&]<class T>(std::span<T> elements) {
      const auto factor = static_cast<ComputedIn<T>>(norm / length);
      for (T& each : elements) each = static_cast<T>(each * factor);
    });
  }
}

/// Throws unless the gradients are clipped to a length, or not at all.
void check_clipping(const GradientOptions& options) {
  const bool clips = options.clipping != Clipping::none;
  if (clips != options.clip_norm.has_value()) {
    throw Error(ErrorCode::invalid_argument,
                clips ? "apply_gradients: clipping without a clip_norm: give the length that gradients are shortened to"
                      : "apply_gradients: clip_norm without clipping: give Clipping::before_reduction or "
                        "after_reduction, too");
  }
  if (!clips || *options.clip_norm > 0) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("apply_gradients: clip_norm is {}, but gradients are shortened to it: give more than 0",
                          *options.clip_norm));
}

[[noreturn]] void reject(const char* optimizer, const char* option, double given, const char* wanted) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {} is {}: give {}", optimizer, option, given, wanted));
}

/// Throws where the number is negative or none.
void check_not_negative(const char* optimizer, const char* option, double given) {
  if (!(given >= 0 && std::isfinite(given))) reject(optimizer, option, given, "a finite number of 0 or more");
}

void check_beta(const char* option, double given) {
  if (!(given >= 0 && given < 1)) reject("Adam", option, given, "a number from 0 to less than 1");
}

void check(const SgdOptions& options) {
  check_not_negative("Sgd", "learning_rate", options.learning_rate);
  const bool is_share = options.momentum >= 0 && options.momentum <= 1;
  if (!is_share) reject("Sgd", "momentum", options.momentum, "a number from 0 to 1");
}

void check(const AdamOptions& options) {
  check_not_negative("Adam", "learning_rate", options.learning_rate);
  check_beta("beta_1", options.beta_1);
  check_beta("beta_2", options.beta_2);
  check_not_negative("Adam", "epsilon", options.epsilon);
}

}  // namespace

// Two bits say where, the others are a checksum of the norm.
constexpr unsigned clipping_at = 6;

std::uint8_t clipping_number(const GradientOptions& options) {
  if (options.clipping == Clipping::none) return 0;
  Fnv1a hash;
  hash.add(std::bit_cast<std::uint64_t>(options.clip_norm.value_or(0)));
  return static_cast<std::uint8_t>(static_cast<unsigned>(options.clipping) << clipping_at |
                                   hash.value() % (1U << clipping_at));
}

std::string clipping_text(std::uint8_t number) {
  if (number == 0) return {};
  const bool before = static_cast<Clipping>(number >> clipping_at) == Clipping::before_reduction;
  return fmt::format("clipped {} the reduction, clip_norm with the checksum {:02x}", before ? "before" : "after",
                     number % (1U << clipping_at));
}

SgdOptions checked(const SgdOptions& options) {
  get_strategy().extended().group().ahead([&] { check(options); });
  return options;
}

AdamOptions checked(const AdamOptions& options) {
  get_strategy().extended().group().ahead([&] { check(options); });
  return options;
}

void name_optimizer(std::uint32_t number, std::span<const std::string> variables) {
  constexpr std::size_t most_named = 4;
  std::string text;
  for (const std::string& each : variables.first(std::min(variables.size(), most_named))) {
    if (!text.empty()) text += ", ";
    text += fmt::format("\"{}\"", each);
  }
  if (variables.size() > most_named) text += fmt::format(" and {} more", variables.size() - most_named);
  name_variable(number, std::move(text));
}

void aggregate_gradients(const LeafRefs& gradients, const GradientOptions& options, std::uint32_t optimizer) {
  ReplicaContext* const replica = get_replica_context();
  if (replica == nullptr) {
    throw Error(
        ErrorCode::wrong_context,
        "apply_gradients: called outside of the replicas, which have the gradients: call it in the function given "
        "to run");
  }
  for (const SlicesRef& slices : gradients.slices) sum_duplicates(slices);
  check_clipping(options);
  if (options.clipping == Clipping::before_reduction) clip(gradients, *options.clip_norm);
  const StrategyCall call{
      .function = StrategyFunction::apply_gradients, .dimensions = clipping_number(options), .variable = optimizer};
  if (options.aggregate && !gradients.slices.empty()) {
    replica->all_reduce_slices(ReduceOp::sum, gradients.slices, options.communication, call);
  }
  if (options.aggregate) replica->all_reduce_tensors(ReduceOp::sum, gradients.tensors, options.communication, call);
  if (options.clipping == Clipping::after_reduction) clip(gradients, *options.clip_norm);
}

}  // namespace chorus::detail
