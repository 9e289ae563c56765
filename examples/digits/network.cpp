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

}  // namespace

Network::Network(int hidden, std::uint64_t seed)
    : hidden_(hidden),
      parameters_(hidden * (pixels + 1) + classes * (hidden + 1)),
      velocity_(Eigen::VectorXd::Zero(parameters_.size())) {
  std::mt19937_64 generator(seed);
  const auto fill = [&](auto weights, int inputs) {
    std::normal_distribution<double> normal(0, 1 / std::sqrt(inputs));
    for (double& weight : weights.reshaped()) weight = normal(generator);
  };
  Layers layers(parameters_, hidden);
  fill(layers.first, pixels);
  fill(layers.second, hidden);
}

Eigen::MatrixXd Network::activations(const Eigen::MatrixXd& images) const {
  const Layers layers(parameters_, hidden_);
  const Eigen::MatrixXd sums = (layers.first.leftCols(pixels) * images).colwise() + layers.first.col(pixels);
  return sums.array().tanh();
}

Eigen::MatrixXd Network::scores(const Eigen::MatrixXd& activations) const {
  const Layers layers(parameters_, hidden_);
  return (layers.second.leftCols(hidden_) * activations).colwise() + layers.second.col(hidden_);
}

double Network::add_gradient(const Dataset& batch, Eigen::Ref<Eigen::VectorXd> gradient) const {
  if (batch.size() == 0) return 0;
  const Eigen::MatrixXd hidden = activations(batch.images);
  Eigen::MatrixXd errors = scores(hidden);
  errors.rowwise() -= errors.colwise().maxCoeff().eval();  // the softmax stays the same, and exp cannot overflow
  errors = errors.array().exp();
  errors.array().rowwise() /= errors.colwise().sum().array().eval();

  double loss = 0;
  for (int image = 0; image < batch.size(); ++image) {
    double& probability = errors(batch.labels[image], image);
    loss -= std::log(probability);
    probability -= 1;
  }

  const Layers layers(parameters_, hidden_);
  const Eigen::MatrixXd hidden_errors =
      (layers.second.leftCols(hidden_).transpose() * errors).array() * (1 - hidden.array().square());
  Layers slopes(gradient, hidden_);
  slopes.first.leftCols(pixels) += hidden_errors * batch.images.transpose();
  slopes.first.col(pixels) += hidden_errors.rowwise().sum();
  slopes.second.leftCols(hidden_) += errors * hidden.transpose();
  slopes.second.col(hidden_) += errors.rowwise().sum();
  return loss;
}

void Network::descend(const Eigen::Ref<const Eigen::VectorXd>& gradient, double rate, double momentum) {
  velocity_ = momentum * velocity_ - rate * gradient;
  parameters_ += velocity_;
}

int Network::count_correct(const Dataset& batch) const {
  const Eigen::MatrixXd scores_of_images = scores(activations(batch.images));
  int correct = 0;
  for (int image = 0; image < batch.size(); ++image) {
    Eigen::Index best = 0;
    scores_of_images.col(image).maxCoeff(&best);
    correct += static_cast<int>(best == batch.labels[image]);
  }
  return correct;
}

}  // namespace digits
