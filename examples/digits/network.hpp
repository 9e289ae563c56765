// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset.hpp"

#include <Eigen/Core>
#include <cstdint>

namespace digits {

/// A perceptron with one hidden layer: pixels -> tanh units -> softmax over the classes.
///
/// All its parameters lie in one vector, so that one allreduce carries the whole gradient.
class Network {
 public:
  /// The same parameters on every rank that passes the same arguments.
  Network(int hidden, std::uint64_t seed);

  /// The number of parameters.
  [[nodiscard]] Eigen::Index size() const noexcept { return parameters_.size(); }
  /// Adds the gradient of the cross-entropy, summed over the images of `batch`, to `gradient` [size()], and returns
  /// that cross-entropy in nats. An empty batch adds nothing.
  [[nodiscard]] double add_gradient(const Dataset& batch, Eigen::Ref<Eigen::VectorXd> gradient) const;
  /// One step of gradient descent with momentum along `gradient` [size()].
  void descend(const Eigen::Ref<const Eigen::VectorXd>& gradient, double rate, double momentum);
  /// How many images of `batch` are given their right digit.
  [[nodiscard]] int count_correct(const Dataset& batch) const;

 private:
  [[nodiscard]] Eigen::MatrixXd activations(const Eigen::MatrixXd& images) const;
  [[nodiscard]] Eigen::MatrixXd scores(const Eigen::MatrixXd& activations) const;

  int hidden_;
  Eigen::VectorXd parameters_;
  Eigen::VectorXd velocity_;
};

}  // namespace digits
