// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <cmath>
#include <random>
#include <type_traits>

namespace digits {
namespace {

/// The two layers inside a vector of parameters, or of their gradient. The last column of each is its bias.
template <class Vector>
struct Layers {
  using Matrix = std::conditional_t<std::is_const_v<Vector>, const Eigen::MatrixXd, Eigen::MatrixXd>;
  Eigen::Map<Matrix> first;   ///< [hidden, pixels + 1]
  Eigen::Map<Matrix> second;  ///< [classes, hidden + 1]

  Layers(Vector& vector, int hidden)
      : first(vector.data(), hidden, pixels + 1), second(vector.data() + first.size(), classes, hidden + 1) {}
};

Eigen::MatrixXd activations(const Layers<const Eigen::VectorXd>& layers, const Eigen::MatrixXd& images) {
  const Eigen::MatrixXd sums = (layers.first.leftCols(pixels) * images).colwise() + layers.first.col(pixels);
  return sums.array().tanh();
}

Eigen::MatrixXd scores(const Layers<const Eigen::VectorXd>& layers, const Eigen::MatrixXd& activations) {
  const auto hidden = activations.rows();
  return (layers.second.leftCols(hidden) * activations).colwise() + layers.second.col(hidden);
}

}  // namespace

Eigen::Index Network::size() const noexcept {
  return static_cast<Eigen::Index>(hidden_) * (pixels + 1) + static_cast<Eigen::Index>(classes) * (hidden_ + 1);
}

Eigen::VectorXd Network::initial_parameters(std::uint64_t seed) const {
  Eigen::VectorXd parameters(size());
  std::mt19937_64 generator(seed);
  const auto fill = [&](auto weights, int inputs) {
    std::normal_distribution<double> normal(0, 1 / std::sqrt(inputs));
    for (double& weight : weights.reshaped()) weight = normal(generator);
  };
  Layers layers(parameters, hidden_);
  fill(layers.first, pixels);
  fill(layers.second, hidden_);
  return parameters;
}

Eigen::VectorXd Network::add_gradient(const Eigen::VectorXd& parameters, const Dataset& batch,
                                      Eigen::Ref<Eigen::VectorXd> gradient) const {
  Eigen::VectorXd losses(batch.size());
  if (batch.size() == 0) return losses;
  const Layers layers(parameters, hidden_);
  const Eigen::MatrixXd hidden = activations(layers, batch.images);
  Eigen::MatrixXd errors = scores(layers, hidden);
  errors.rowwise() -= errors.colwise().maxCoeff().eval();  // the softmax stays the same, and exp cannot overflow
  errors = errors.array().exp();
  errors.array().rowwise() /= errors.colwise().sum().array().eval();

  for (int image = 0; image < batch.size(); ++image) {
    double& probability = errors(batch.labels[image], image);
    losses[image] = -std::log(probability);
    probability -= 1;
  }

  const Eigen::MatrixXd hidden_errors =
      (layers.second.leftCols(hidden_).transpose() * errors).array() * (1 - hidden.array().square());
  Layers slopes(gradient, hidden_);
  slopes.first.leftCols(pixels) += hidden_errors * batch.images.transpose();
  slopes.first.col(pixels) += hidden_errors.rowwise().sum();
  slopes.second.leftCols(hidden_) += errors * hidden.transpose();
  slopes.second.col(hidden_) += errors.rowwise().sum();
  return losses;
}

std::vector<int> Network::predictions(const Eigen::VectorXd& parameters, const Dataset& batch) const {
  const Layers layers(parameters, hidden_);
  const Eigen::MatrixXd scores_of_images = scores(layers, activations(layers, batch.images));
  std::vector<int> best(batch.labels.size());
  for (int image = 0; image < batch.size(); ++image) scores_of_images.col(image).maxCoeff(&best[image]);
  return best;
}

}  // namespace digits
