// SPDX-License-Identifier: Apache-2.0
// Data-parallel training: every rank holds the same network, computes the gradient on its share of each minibatch,
// and an allreduce makes the sum of the gradients known to all.
//
// The answer does not depend on the number of ranks. Minibatches are global and merely shared out; the first
// parameters and every shuffle come from the seed, the same on each rank. What does change with the number of ranks is
// the order in which the gradients are added, and so their last bits. The training is therefore done in double, with a
// smooth network (tanh, no kinks that could turn a last bit into a jump), and losses are printed to four decimals,
// about ten digits above the noise.
#include "../digits_model/dataset.hpp"
#include "../digits_model/network.hpp"
#include "../program.hpp"

#include <chorus/interop/eigen.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <span>

namespace {

using digits::Dataset;
using digits::Network;
using examples::Stopwatch;

struct Settings {
  std::string data = DIGITS_DATA;
  int epochs = 20;
  int batch = 64;
  int hidden = 64;
  double rate = 0.1;
  double momentum = 0.9;
  std::uint64_t seed = 1;
};

void add_options(CLI::App& app, Settings& settings) {
  app.add_option("--data", settings.data, "the images: a CSV file, gzipped or not")->capture_default_str();
  app.add_option("--epochs", settings.epochs, "passes over the images")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--batch", settings.batch, "images per step, over all ranks")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--hidden", settings.hidden, "hidden units")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--rate", settings.rate, "learning rate")
      ->check(examples::finite_range(0, 100))
      ->capture_default_str();
  app.add_option("--momentum", settings.momentum, "share of the last step kept")
      ->check(examples::finite_range(0, 1))
      ->capture_default_str();
  app.add_option("--seed", settings.seed, "of the split, the first parameters and the shuffles")->capture_default_str();
}

Dataset select(const Dataset& data, std::span<const int> chosen) {
  Dataset selection{Eigen::MatrixXd(digits::pixels, chosen.size()), std::vector<int>(chosen.size())};
  for (int image = 0; image < selection.size(); ++image) {
    selection.images.col(image) = data.images.col(chosen[image]);
    selection.labels[image] = data.labels[chosen[image]];
  }
  return selection;
}

/// This rank's share of `all`. Together the ranks have each element once; shares differ by one element at most, and are
/// empty on some ranks where there are more ranks than elements.
std::span<const int> share(std::span<const int> all, const chorus::Communicator& world) {
  const std::size_t ranks = world.size();
  const std::size_t rank = world.rank();
  const std::size_t begin = all.size() * rank / ranks;
  return all.subspan(begin, all.size() * (rank + 1) / ranks - begin);
}

/// A network with its parameters, which descend along gradients with momentum.
struct Model {
  Network network;
  Eigen::VectorXd parameters;
  Eigen::VectorXd velocity;

  Model(int hidden, std::uint64_t seed)
      : network(hidden),
        parameters(network.initial_parameters(seed)),
        velocity(Eigen::VectorXd::Zero(network.size())) {}

  void descend(const Eigen::VectorXd& gradient, const Settings& settings) {
    velocity = settings.momentum * velocity - settings.rate * gradient;
    parameters += velocity;
  }
};

/// One pass over the images in `order`; returns the mean loss in it.
double train_epoch(const chorus::Communicator& world, const Dataset& data, std::span<const int> order,
                   const Settings& settings, Model& model, Stopwatch& collectives) {
  const Eigen::Index size = model.network.size();
  double epoch_loss = 0;
  for (std::size_t first = 0; first < order.size(); first += settings.batch) {
    const auto batch = order.subspan(first, std::min<std::size_t>(settings.batch, order.size() - first));
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(size + 1);  // the loss travels behind the gradient
    auto gradient = sum.head(size);
    double& loss = sum[size];
    loss = model.network.add_gradient(model.parameters, select(data, share(batch, world)), gradient).sum();
    collectives([&] { chorus::allreduce(world, chorus::elements(sum), chorus::ReduceOp::sum); });
    model.descend(gradient / static_cast<double>(batch.size()), settings);
    epoch_loss += loss;
  }
  return epoch_loss / static_cast<double>(order.size());
}

double accuracy(const chorus::Communicator& world, const Dataset& data, std::span<const int> images,
                const Model& model) {
  const Dataset mine = select(data, share(images, world));
  const std::vector<int> predictions = model.network.predictions(model.parameters, mine);
  int correct = 0;
  for (int image = 0; image < mine.size(); ++image) correct += predictions[image] == mine.labels[image] ? 1 : 0;
  return static_cast<double>(chorus::allreduce(world, correct, chorus::ReduceOp::sum)) /
         static_cast<double>(images.size());
}

int train(const chorus::Communicator& world, const Settings& settings) {
  const auto say = [&](const std::string& line) {
    if (world.rank() == 0) fmt::print("{}\n", line);
  };
  const Dataset data = digits::load(world, settings.data);

  std::mt19937_64 generator(settings.seed);
  std::vector<int> order(data.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  const std::size_t held_out_count = (order.size() + 4) / 5;
  const auto held_out = std::span(order).first(held_out_count);
  const auto learned = std::span(order).subspan(held_out_count);
  if (learned.empty()) throw examples::InputError(settings.data + ": one image is not enough to learn from");
  say(fmt::format("{} images to learn from, {} held out, {} per step", learned.size(), held_out.size(),
                  settings.batch));

  Model model(settings.hidden, settings.seed);
  Stopwatch total;
  Stopwatch collectives;
  chorus::barrier(world);  // nobody's clock runs while another rank still unpacks the data
  total([&] {
    for (int epoch = 1; epoch <= settings.epochs; ++epoch) {
      std::shuffle(learned.begin(), learned.end(), generator);
      const double loss = train_epoch(world, data, learned, settings, model, collectives);
      if (epoch == 1 || epoch % 5 == 0 || epoch == settings.epochs)
        say(fmt::format("epoch {:3}  loss {:.4f}", epoch, loss));
    }
  });

  say(fmt::format("held-out accuracy {:.2f} %", 100 * accuracy(world, data, held_out, model)));
  const double largest_share = chorus::allreduce(world, collectives.seconds() / total.seconds(), chorus::ReduceOp::max);
  say(fmt::format("ranks: {}, training: {:.2f} s, in collectives: {:.1f} % of it (the rank with most)", world.size(),
                  total.seconds(), 100 * largest_share));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_program("digits", [&](const chorus::Communicator& world) {
    CLI::App app("Learns handwritten digits, the minibatches shared out over the ranks of mpirun.", "digits");
    Settings settings;
    add_options(app, settings);
    if (const auto exit_code = examples::parse(app, argc, argv, world)) return *exit_code;
    return train(world, settings);
  });
}
