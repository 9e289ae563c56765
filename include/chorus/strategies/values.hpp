// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <valarray>
#include <vector>

namespace chorus {

/// Where the replicas that compute together are: each worker, a process, has the same number of them.
struct ReplicaLayout {
  int workers = 1;
  int worker = 0;  ///< this one, from 0
  int local_replicas = 1;

  [[nodiscard]] int replicas() const noexcept { return workers * local_replicas; }
  /// The number in all of this worker's first replica.
  [[nodiscard]] int first_replica() const noexcept { return worker * local_replicas; }
  bool operator==(const ReplicaLayout&) const = default;
};

/// A value for each replica: this process holds those of its own.
template <class T>
class DistributedValues {
 public:
  using value_type = T;

  /// `values`: one for each of this worker's replicas, in their order.
  /// Throws   Error{invalid_argument} where there are more or fewer.
  DistributedValues(const ReplicaLayout& layout, std::vector<T> values) : layout_(layout) {
    if (values.size() != static_cast<std::size_t>(layout.local_replicas)) {
      throw Error(ErrorCode::invalid_argument, "DistributedValues: " + std::to_string(values.size()) + " values for " +
                                                   std::to_string(layout.local_replicas) +
                                                   " local replicas: give one for each of them");
    }
    if constexpr (std::same_as<T, bool>) {
      values_.resize(values.size());
      std::ranges::copy(values, std::begin(values_));
    } else {
      values_ = std::move(values);
    }
  }

  [[nodiscard]] const ReplicaLayout& layout() const noexcept { return layout_; }
  /// The values of this worker's replicas, in their order; of a temporary they are moved out.
  [[nodiscard]] std::span<const T> values() const& noexcept { return {std::begin(values_), values_.size()}; }
  [[nodiscard]] std::span<T> values() & noexcept { return {std::begin(values_), values_.size()}; }
  [[nodiscard]] std::vector<T> values() && {
    return {std::make_move_iterator(std::begin(values_)), std::make_move_iterator(std::end(values_))};
  }
  [[nodiscard]] const T& operator[](std::size_t local_replica) const { return values()[local_replica]; }
  [[nodiscard]] T& operator[](std::size_t local_replica) { return values()[local_replica]; }

 private:
  ReplicaLayout layout_;
  std::conditional_t<std::same_as<T, bool>, std::valarray<bool>, std::vector<T>> values_;  // side by side in memory
};

/// Values that differ from replica to replica, as what the replicas of a run return.
template <class T>
class PerReplica : public DistributedValues<T> {
 public:
  using DistributedValues<T>::DistributedValues;

  /// The only value, where each worker has one replica.
  /// Throws   Error{invalid_argument} where it has more.
  [[nodiscard]] const T& get() const {
    if (this->values().size() != 1) {
      throw Error(ErrorCode::invalid_argument, "PerReplica::get: there are " + std::to_string(this->values().size()) +
                                                   " local replicas: take one of values(), or reduce them");
    }
    return this->values().front();
  }
};

template <class T>
PerReplica(const ReplicaLayout&, std::vector<T>) -> PerReplica<T>;

/// Values that are the same on every replica.
template <class T>
class Mirrored : public DistributedValues<T> {
 public:
  using DistributedValues<T>::DistributedValues;

  [[nodiscard]] const T& get() const { return this->values().front(); }
  operator const T&() const { return get(); }  // NOLINT(google-explicit-constructor): it stands for its value
};

}  // namespace chorus
