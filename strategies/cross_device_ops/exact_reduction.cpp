// SPDX-License-Identifier: Apache-2.0
#include "exact_reduction.hpp"

#include <chorus/allreduce.hpp>
#include <chorus/bcast.hpp>
#include <chorus/exact_sum.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace chorus {
namespace {

/// Sums are many times as long as numbers, so a tensor is added up in pieces.
constexpr std::size_t sums_at_once = 1024;

bool has_floats(DataType type) { return type == DataType::float32 || type == DataType::complex64; }

/// As Ts: a complex number is added as its two parts.
template <class T>
std::size_t count_of(const TensorRef& tensor) {
  return tensor.bytes() / sizeof(T);
}

template <class T>
std::span<T> piece_of(const TensorRef& tensor, std::size_t first) {
  const std::span<T> all(reinterpret_cast<T*>(tensor.data), count_of<T>(tensor));
  return all.subspan(first, std::min(sums_at_once, all.size() - first));
}

/// Calls `add_up(sums, first)` for each piece of a tensor of `count` numbers.
template <class T, class AddUp>
void for_each_piece(std::size_t count, const AddUp& add_up) {
  for (std::size_t first = 0; first < count; first += sums_at_once) {
    std::vector<ExactSum<T>> sums(std::min(sums_at_once, count - first));
    add_up(sums, first);
  }
}

template <class T>
void add(std::vector<ExactSum<T>>& sums, std::span<const T> values) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
}

template <class T>
void round(const std::vector<ExactSum<T>>& sums, std::span<T> values) {
  for (std::size_t i = 0; i < sums.size(); ++i) values[i] = sums[i].value();
}

template <class T>
void all_reduce(const ReplicaGroup& group, int local_replica, const TensorRef& tensor,
                const CollectiveOptions& options) {
  for_each_piece<T>(count_of<T>(tensor), [&](std::vector<ExactSum<T>>& sums, std::size_t first) {
    const std::span<T> values = piece_of<T>(tensor, first);
    add<T>(sums, values);
    const bool several = group.layout().local_replicas > 1;
    if (several) allreduce(group.local(local_replica), sums, exact_sum, options);
    if (group.workers() != nullptr) {
      if (local_replica == 0) allreduce(*group.workers(), sums, exact_sum, options);
      if (several) bcast(group.local(local_replica), sums, 0, options);
    }
    round<T>(sums, values);
  });
}

template <class T>
void reduce(const ReplicaGroup& group, const ReplicaTensors& components, const CollectiveOptions& options) {
  for_each_piece<T>(count_of<T>(components.front()), [&](std::vector<ExactSum<T>>& sums, std::size_t first) {
    for (const TensorRef& component : components) add<T>(sums, piece_of<T>(component, first));
    if (group.workers() != nullptr) allreduce(*group.workers(), sums, exact_sum, options);
    for (const TensorRef& component : components) round<T>(sums, piece_of<T>(component, first));
  });
}

}  // namespace

void all_reduce_exactly(const ReplicaGroup& group, int local_replica, const TensorRef& tensor,
                        const CollectiveOptions& options) {
  if (has_floats(tensor.type))
    all_reduce<float>(group, local_replica, tensor, options);
  else
    all_reduce<double>(group, local_replica, tensor, options);
}

void reduce_exactly(const ReplicaGroup& group, const ReplicaTensors& components, const CollectiveOptions& options) {
  if (has_floats(components.front().type))
    reduce<float>(group, components, options);
  else
    reduce<double>(group, components, options);
}

}  // namespace chorus
