// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/leaf.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace chorus {

namespace detail {
/// The size of the batch of all replicas: what was given, or that of each replica times their number.
CHORUS_API double batch_of_all_replicas(std::optional<std::int64_t> given, std::size_t own);
CHORUS_API int replicas_of_this_one(const char* function);
[[noreturn]] CHORUS_API void reject_weights(const Shape& losses, const Shape& weights);
}  // namespace detail

/// A number that can be divided among the replicas: no integer, whose shares would lose the remainder.
template <class T>
concept Divisible = Number<T> && !std::integral<T>;

/// What the sizes of the batches of the replicas are to average_loss.
template <class T>
struct LossOptions {
  /// The examples of all replicas in this step; none: this replica's times their number, which is wrong where the last
  /// batch is shorter for some: give DistributedBatch::global_size then.
  std::optional<std::int64_t> global_batch_size = {};
  /// A factor for each loss, of the same shape; null: 1.
  const T* sample_weight = nullptr;
};

/// The share of this replica in the average of the losses of all examples: their sum divided by the size of the batch
/// of all replicas. The sum of the shares over the replicas is the average, and the sum of their gradients its
/// gradient.
///
/// Shapes   `per_example_loss` has one dimension at least, the examples; 0 examples give 0.
/// Throws   Error{invalid_argument} where the size is negative, or 0 though there are examples, or the weights have
///          another shape;
///          Error{wrong_context} outside of the replicas unless the size is given.
template <Leaf T>
requires(LeafTraits<T>::rank >= 1 && Divisible<ScalarOf<T>> && std::convertible_to<ScalarOf<T>, double>)
    [[nodiscard]] ScalarOf<T> average_loss(const T& per_example_loss, const LossOptions<T>& options = {}) {
  using Traits = LeafTraits<T>;
  const Shape shape = Traits::shape(per_example_loss);
  const double batch = detail::batch_of_all_replicas(options.global_batch_size, shape.front());
  if (options.sample_weight != nullptr && Traits::shape(*options.sample_weight) != shape) {
    detail::reject_weights(shape, Traits::shape(*options.sample_weight));
  }
  const ScalarOf<T>* const losses = Traits::data(per_example_loss);
  const ScalarOf<T>* const weights = options.sample_weight != nullptr ? Traits::data(*options.sample_weight) : nullptr;
  const std::size_t count = element_count(shape);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += static_cast<double>(losses[i]) * (weights != nullptr ? static_cast<double>(weights[i]) : 1.0);
  }
  return batch == 0 ? ScalarOf<T>{} : static_cast<ScalarOf<T>>(sum / batch);
}

/// This replica's share of a loss that does not depend on the examples, such as a regularisation: `loss` divided by the
/// number of replicas.
/// Throws   Error{wrong_context} outside of the replicas.
template <Divisible T>
[[nodiscard]] T scale_regularization(T loss) {
  return static_cast<T>(loss / static_cast<T>(detail::replicas_of_this_one("scale_regularization")));
}

/// How the losses of the replicas of this thread's strategy are joined: by their sum, as average_loss gives each its
/// share of the average, unless set_loss_reduction has said otherwise: strategy.reduce(get_loss_reduction(), losses).
[[nodiscard]] CHORUS_API ReduceOp get_loss_reduction() noexcept;
/// For programs whose replicas compute the mean over their own examples: ReduceOp::average. It changes what
/// get_loss_reduction returns for this thread's strategy, and no computation. Called by all workers.
/// Throws   Error{invalid_argument} for other operations than sum and average; Error{wrong_context} in a replica.
CHORUS_API void set_loss_reduction(ReduceOp op);

}  // namespace chorus
