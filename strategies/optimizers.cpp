// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/optimizers.hpp>

#include <chorus/error.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

namespace chorus::detail {
namespace {

template <class T>
double squares(const TensorRef& tensor) {
  double sum = 0;
  const T* const elements = reinterpret_cast<const T*>(tensor.data);
  for (std::size_t i = 0; i < tensor.count(); ++i)
    sum += static_cast<double>(elements[i]) * static_cast<double>(elements[i]);
  return sum;
}

template <class T>
void scale(const TensorRef& tensor, double factor) {
  T* const elements = reinterpret_cast<T*>(tensor.data);
  for (std::size_t i = 0; i < tensor.count(); ++i) elements[i] = static_cast<T>(elements[i] * static_cast<T>(factor));
}

/// Shortens the gradients, seen as one vector, to `norm`.
void clip(const LeafRefs& leaves, double norm) {
  std::vector<TensorRef> gradients = leaves.tensors;
  for (const SlicesRef& slices : leaves.slices) gradients.push_back(slices.values());
  double sum = 0;
  for (const TensorRef& gradient : gradients) {
    if (gradient.type != DataType::float32 && gradient.type != DataType::float64) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("apply_gradients: gradients of {} are not clipped: only float and double are",
                              name(gradient.type)));
    }
    sum += gradient.type == DataType::float32 ? squares<float>(gradient) : squares<double>(gradient);
  }
  const double length = std::sqrt(sum);
  if (length <= norm) return;
  for (const TensorRef& gradient : gradients) {
    if (gradient.type == DataType::float32)
      scale<float>(gradient, norm / length);
    else
      scale<double>(gradient, norm / length);
  }
}

}  // namespace

void aggregate_gradients(const LeafRefs& gradients, const GradientOptions& options) {
  ReplicaContext* const replica = get_replica_context();
  if (replica == nullptr) {
    throw Error(
        ErrorCode::wrong_context,
        "apply_gradients: called outside of the replicas, which have the gradients: call it in the function given "
        "to run");
  }
  for (const SlicesRef& slices : gradients.slices) sum_duplicates(slices);
  if (options.clipping != Clipping::none && !(options.clip_norm > 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("apply_gradients: clip_norm is {}, but gradients are shortened to it: give more than 0",
                            options.clip_norm));
  }
  if (options.clipping == Clipping::before_reduction) clip(gradients, options.clip_norm);
  if (options.aggregate && !gradients.slices.empty()) {
    replica->all_reduce_slices(ReduceOp::sum, gradients.slices, options.communication);
  }
  if (options.aggregate) replica->all_reduce_tensors(ReduceOp::sum, gradients.tensors, options.communication);
  if (options.clipping == Clipping::after_reduction) clip(gradients, options.clip_norm);
}

}  // namespace chorus::detail
