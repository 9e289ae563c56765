// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/variable.hpp>

#include <cstddef>
#include <string>

namespace chorus {

/// A number that replicas add to without communication, and that is their sum when it is read outside of them: what
/// metrics are made of. Made in the scope of a strategy.
class CHORUS_API Tally {
 public:
  explicit Tally(const std::string& name);
  /// In a replica: to its own part. Elsewhere, where all workers call: once.
  void add(double amount);
  /// The sum of all parts; a collective of the workers. In a replica: its own part.
  [[nodiscard]] double total() const { return sum_.value(); }
  void reset() { sum_.assign(0); }
  /// What it is kept in.
  [[nodiscard]] const Variable<double>& variable() const noexcept { return sum_; }

 private:
  Variable<double> sum_;
};

// result() is called outside of the replicas by all workers, and joins what all replicas have been given; a replica
// that calls it gets what it has been given itself.

/// The sum of all values that any replica has given.
class CHORUS_API Sum {
 public:
  explicit Sum(const std::string& name = "sum") : sum_(name) {}
  template <Leaf T>
  void update_state(const T& values);
  [[nodiscard]] double result() const { return sum_.total(); }
  void reset_state() { sum_.reset(); }
  /// Calls visit(name, variable) for what a Checkpoint keeps.
  template <class Visit>
  void for_each_saved(Visit&& visit) const {
    visit("sum", sum_.variable());
  }

 private:
  Tally sum_;
};

/// The mean of all values that any replica has given; 0 of none.
class CHORUS_API Mean {
 public:
  explicit Mean(const std::string& name = "mean") : sum_(name), count_(name + " count") {}
  /// Each of `values` counts `weight` times.
  template <Leaf T>
  void update_state(const T& values, double weight = 1);
  [[nodiscard]] double result() const;
  void reset_state();
  /// Calls visit(name, variable) for what a Checkpoint keeps.
  template <class Visit>
  void for_each_saved(Visit&& visit) const {
    visit("sum", sum_.variable());
    visit("count", count_.variable());
  }

 private:
  Tally sum_;
  Tally count_;
};

/// How many of the predictions that any replica has given are right.
class CHORUS_API Accuracy {
 public:
  explicit Accuracy(const std::string& name = "accuracy") : mean_(name) {}
  /// Throws   Error{invalid_argument} where there are not as many labels as predictions.
  template <Leaf Labels, Leaf Predictions>
  void update_state(const Labels& labels, const Predictions& predictions);
  [[nodiscard]] double result() const { return mean_.result(); }
  void reset_state() { mean_.reset_state(); }
  /// Calls visit(name, variable) for what a Checkpoint keeps.
  template <class Visit>
  void for_each_saved(Visit&& visit) const {
    mean_.for_each_saved(visit);
  }

 private:
  static void check_counts(std::size_t labels, std::size_t predictions);
  Mean mean_;
};

namespace detail {
template <Leaf T>
[[nodiscard]] std::size_t count_of(const T& values) {
  return element_count(LeafTraits<T>::shape(values));
}
template <Leaf T>
[[nodiscard]] double sum_of(const T& values) {
  double sum = 0;
  const std::size_t count = count_of(values);
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(LeafTraits<T>::data(values)[i]);
  return sum;
}
}  // namespace detail

template <Leaf T>
void Sum::update_state(const T& values) {
  sum_.add(detail::sum_of(values));
}

template <Leaf T>
void Mean::update_state(const T& values, double weight) {
  sum_.add(weight * detail::sum_of(values));
  count_.add(weight * static_cast<double>(detail::count_of(values)));
}

template <Leaf Labels, Leaf Predictions>
void Accuracy::update_state(const Labels& labels, const Predictions& predictions) {
  const std::size_t count = detail::count_of(labels);
  check_counts(count, detail::count_of(predictions));
  std::vector<double> right(count);
  for (std::size_t i = 0; i < count; ++i) {
    right[i] = LeafTraits<Labels>::data(labels)[i] == LeafTraits<Predictions>::data(predictions)[i] ? 1 : 0;
  }
  mean_.update_state(right);
}

}  // namespace chorus
