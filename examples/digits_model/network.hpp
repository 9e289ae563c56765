// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset.hpp"

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace digits {

/// A perceptron with one hidden layer: pixels -> tanh units -> softmax over the classes.
///
/// It keeps no parameters: they lie in one vector of the caller's, so that one allreduce carries the whole gradient.
class Network {
 public:
  explicit Network(int hidden) noexcept : hidden_(hidden) {}

  /// The number of parameters.
  [[nodiscard]] Eigen::Index size() const noexcept;
  /// The same on every rank that passes the same seed.
  [[nodiscard]] Eigen::VectorXd initial_parameters(std::uint64_t seed) const;
  /// The cross-entropy of each image of `batch` in nats [n]. Adds the gradient of their sum to `gradient` [size()]; an
  /// empty batch adds nothing.
  [[nodiscard]] Eigen::VectorXd add_gradient(const Eigen::VectorXd& parameters, const Dataset& batch,
                                             Eigen::Ref<Eigen::VectorXd> gradient) const;
  /// The digit that each image of `batch` is taken for.
  [[nodiscard]] std::vector<int> predictions(const Eigen::VectorXd& parameters, const Dataset& batch) const;

 private:
  int hidden_;
};

}  // namespace digits
