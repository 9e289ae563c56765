// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/structure.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {
/// How many replicas of this worker the strategy of this thread has, and which of them this thread is.
CHORUS_API int local_replicas_here() noexcept;
/// Throws   Error{wrong_context} outside of the replicas, and where there are more than `known`.
CHORUS_API std::size_t local_replica_here(std::size_t known);
/// Throws   Error{invalid_argument} where they are less than 1.
CHORUS_API void check_batches(int batches);
[[noreturn]] CHORUS_API void reject_accumulated(const std::string& why);
}  // namespace detail

/// Adds up the gradients of several small batches, so that they count as one large one: each replica its own, without
/// communication. Made in the scope of the strategy.
///
///     if (const auto sums = accumulator.add({gradient})) optimizer.apply_gradients(*sums);
///
/// `T`: tensors, or IndexedSlices, whose sums have the rows of all batches.
template <Structure... T>
requires((Leaf<T> || detail::is_indexed_slices<T>)&&...) class GradientAccumulator {
 public:
  /// `batches`: how many are added up.
  /// Throws   Error{invalid_argument} where it is less than 1.
  explicit GradientAccumulator(int batches)
      : batches_(batches), slots_(static_cast<std::size_t>(detail::local_replicas_here())) {
    detail::check_batches(batches);
  }

  /// The sums once there are as many as wanted, and from then on sums of the next ones; none before.
  /// Shapes   the same in every call.
  /// Order    every replica calls equally often.
  /// Throws   Error{wrong_context} outside of the replicas; Error{invalid_argument} where a shape has changed.
  [[nodiscard]] std::optional<std::tuple<T...>> add(std::tuple<T...> gradients) {
    Slot& slot = slots_[detail::local_replica_here(slots_.size())];
    if (slot.added == 0)
      slot.sums = std::move(gradients);
    else
      add_to(slot.sums, gradients, std::index_sequence_for<T...>());
    if (++slot.added < batches_) return std::nullopt;
    slot.added = 0;
    return std::move(slot.sums);
  }

  /// Forgets what the replicas of this worker have begun to add up, as after a run that has failed.
  /// Order    outside of the replicas.
  void reset() noexcept {
    for (Slot& slot : slots_) slot.added = 0;
  }

 private:
  struct Slot {
    int added = 0;
    std::tuple<T...> sums;
  };

  template <std::size_t... I>
  static void add_to(std::tuple<T...>& sums, const std::tuple<T...>& gradients, std::index_sequence<I...> /*all*/) {
    (add_elements(std::get<I>(sums), std::get<I>(gradients)), ...);
  }
  template <Leaf U>
  static void add_elements(IndexedSlices<U>& sum, const IndexedSlices<U>& gradient) {
    detail::check_slices(SlicesRef(sum), "GradientAccumulator::add");
    detail::check_slices(detail::slices_to_read(gradient), "GradientAccumulator::add");
    if (sum.dense_shape != gradient.dense_shape) {
      detail::reject_accumulated("slices of a tensor of shape " + to_string(gradient.dense_shape) +
                                 " after those of one of shape " + to_string(sum.dense_shape) +
                                 ": give the gradients of the same variables each time");
    }
    detail::add_slices(SlicesRef(sum), detail::slices_to_read(gradient));
  }
  template <Leaf U>
  static void add_elements(U& sum, const U& gradient) {
    using Traits = LeafTraits<U>;
    const Shape shape = Traits::shape(gradient);
    if (shape != Traits::shape(sum)) {
      detail::reject_accumulated("a gradient of shape " + to_string(shape) + " after one of shape " +
                                 to_string(Traits::shape(sum)) +
                                 ": give the gradients of the same variables each time");
    }
    const std::size_t count = element_count(shape);
    for (std::size_t i = 0; i < count; ++i) {
      ScalarOf<U>& to = Traits::data(sum)[i];
      to = static_cast<ScalarOf<U>>(to + Traits::data(gradient)[i]);
    }
  }

  int batches_;
  std::vector<Slot> slots_;  // of each local replica
};

}  // namespace chorus
