// SPDX-License-Identifier: Apache-2.0
// Training under a strategy: this program says what one replica does with its part of a batch, and where the replicas
// run is a word on the command line. Nothing but strategy_choice.cpp looks at it.
//
// A batch has the images of all replicas together. Each computes the loss and the gradient of its own, divided by the
// images of all; the optimizer adds the gradients up and changes the parameters of every replica alike.
//
// The last batch of an epoch has the images that are left. Its replicas have unequal numbers of them, some none: as all
// divide by the images of the whole batch, each image weighs the same, and the losses do not depend on the strategy.
//
// With --reproducible the sums over the replicas are exact. The losses are then the same to the last bit wherever the
// same number of replicas run: 4 threads of one process, 4 ranks, or 2 ranks of 2 threads. For that each batch must be
// divided into the same slices everywhere, as AutoShardPolicy::data does.
//
// With --checkpoint it saves what it has learned after every epoch, and goes on after the last one that is there, as if
// it had never been ended: under any strategy, with any number of replicas.
#include "../digits_model/dataset.hpp"
#include "../digits_model/network.hpp"
#include "../program.hpp"
#include "loss_curve.hpp"
#include "strategy_choice.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/checkpoint_manager.hpp>
#include <chorus/strategies/losses.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/optimizers.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <variant>

namespace {

using train_digits::ProgressBar;

/// A row for each image.
struct Batch {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> images;
  std::vector<int> labels;
};

struct Settings {
  train_digits::StrategyChoice strategy;
  std::string data = DIGITS_DATA;
  std::size_t epochs = 20;
  std::size_t batch_size = 64;
  int hidden = 64;
  std::string optimizer = "sgd";
  std::optional<double> rate;
  std::uint64_t seed = 1;
  std::string checkpoint;
  std::string curve;
  std::string plot;
};

void add_options(CLI::App& app, Settings& settings) {
  app.add_option("--strategy", settings.strategy.name, "where the replicas run")
      ->check(CLI::IsMember(train_digits::strategy_names()))
      ->capture_default_str();
  app.add_option("--replicas", settings.strategy.replicas, "of each process; more than there are devices share them")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--reproducible", settings.strategy.reproducible, "the same bits wherever so many replicas run");
  app.add_option("--data", settings.data, "the images: a CSV file, gzipped or not")->capture_default_str();
  app.add_option("--epochs", settings.epochs, "passes over the images")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--batch-size", settings.batch_size, "images per step, of all replicas")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--hidden", settings.hidden, "hidden units")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--optimizer", settings.optimizer, "sgd (with momentum 0.9) or adam")
      ->check(CLI::IsMember({"sgd", "adam"}))
      ->capture_default_str();
  app.add_option("--rate", settings.rate, "learning rate; default: 0.1 of sgd, 0.01 of adam")
      ->check(examples::finite_range(0, 100));
  app.add_option("--seed", settings.seed, "of the split, the first parameters and the shuffles")->capture_default_str();
  app.add_option("--checkpoint", settings.checkpoint, "a folder to save in after each epoch, and to resume from")
      ->check(examples::no_empty_name());
  app.add_option("--curve", settings.curve, "a text file for the loss of each step")->check(examples::no_empty_name());
  app.add_option("--plot", settings.plot, "an .svg or .png file for the same as a picture, where gnuplot is there")
      ->check(examples::no_empty_name());
}

/// Throws   InputError on every rank where rank 0 cannot write the file that `option` names.
void check_writable(const chorus::Communicator& workers, const char* option, const std::string& path) {
  if (path.empty()) return;
  int error = 0;
  if (workers.rank() == 0) {
    std::error_code ignored;  // opening it says the same
    const bool there = std::filesystem::exists(path, ignored);
    if (!std::ofstream(path, std::ios::app)) error = errno;
    if (!there) std::filesystem::remove(path, ignored);
  }
  chorus::bcast(workers, std::span(&error, 1), 0);
  if (error != 0) throw examples::InputError(fmt::format("{} {}: {}", option, path, std::strerror(error)));
}

/// Before anything is learned that could not be kept.
void check_outputs(const chorus::Communicator& workers, const Settings& settings) {
  if (!settings.plot.empty() && !settings.plot.ends_with(".svg") && !settings.plot.ends_with(".png")) {
    throw examples::InputError(fmt::format("--plot {}: give an .svg or .png file", settings.plot));
  }
  check_writable(workers, "--curve", settings.curve);
  check_writable(workers, "--plot", settings.plot);
}

/// The images to learn from and those held out.
struct Inputs {
  std::size_t learned;
  std::size_t held_out;
  chorus::DistributedDataset<Batch> training;
  chorus::DistributedDataset<Batch> test;
};

Inputs distribute(const digits::Dataset& data, const Settings& settings, chorus::Strategy& strategy) {
  const std::size_t count = data.labels.size();
  const std::size_t held_out = (count + 4) / 5;
  const std::size_t learned = count - held_out;
  if (settings.batch_size > learned) {
    throw examples::InputError(
        fmt::format("--batch-size {}: there are {} images to learn from", settings.batch_size, learned));
  }
  const auto all =
      chorus::make_array_dataset(Batch{data.images.transpose(), data.labels}).shuffle(count, settings.seed);
  const auto training =
      all.skip(held_out).shuffle(learned, settings.seed + 1, chorus::Reshuffle::each_epoch).batch(settings.batch_size);
  const chorus::InputOptions options{.shard_policy = chorus::AutoShardPolicy::data};
  return {learned, held_out, strategy.distribute_dataset(training, options),
          strategy.distribute_dataset(all.take(held_out).batch(settings.batch_size), options)};
}

using Optimizer = std::variant<chorus::Sgd<Eigen::VectorXd>, chorus::Adam<Eigen::VectorXd>>;

Optimizer make_optimizer(const chorus::Variable<Eigen::VectorXd>& parameters, const Settings& settings) {
  if (settings.optimizer == "adam") {
    return chorus::Adam(std::tuple(parameters), {.learning_rate = settings.rate.value_or(0.01)});
  }
  return chorus::Sgd(std::tuple(parameters), {.learning_rate = settings.rate.value_or(0.1), .momentum = 0.9});
}

/// What is trained; made in the scope of the strategy.
class Model {
 public:
  explicit Model(const Settings& settings)
      : network_(settings.hidden),
        parameters_(network_.initial_parameters(settings.seed), {.name = "parameters"}),
        optimizer_(make_optimizer(parameters_, settings)),
        gradient_options_{.communication = {.reproducible = settings.strategy.reproducible}} {}

  /// In a replica: one step with its part of a batch of `all` images. Its share of the mean loss of all.
  double step(const Batch& batch, std::size_t all) {
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(network_.size());
    const Eigen::VectorXd losses = network_.add_gradient(parameters_, images_of(batch), gradient);
    gradient /= static_cast<double>(all);
    std::visit([&](auto& each) { each.apply_gradients({std::move(gradient)}, gradient_options_); }, optimizer_);
    loss_.update_state(losses);
    return chorus::average_loss(losses, {.global_batch_size = all});
  }
  /// In a replica: counts how many of its part of a batch are given their right digit.
  void test(const Batch& batch) {
    accuracy_.update_state(batch.labels, network_.predictions(parameters_, images_of(batch)));
  }
  /// The mean loss since the last call.
  [[nodiscard]] double epoch_loss() {
    const double mean = loss_.result();
    loss_.reset_state();
    return mean;
  }
  [[nodiscard]] double accuracy() const { return accuracy_.result(); }
  /// What a checkpoint keeps between epochs.
  template <class Visit>
  void for_each_saved(Visit&& visit) const {
    visit("parameters", parameters_);
    std::visit([&](const auto& each) { visit("optimizer", each); }, optimizer_);
  }

 private:
  static digits::Dataset images_of(const Batch& batch) { return {batch.images.transpose(), batch.labels}; }

  digits::Network network_;
  chorus::Variable<Eigen::VectorXd> parameters_;
  Optimizer optimizer_;
  chorus::GradientOptions gradient_options_;
  chorus::Mean loss_;
  chorus::Accuracy accuracy_;
};

/// A training and how far it has come.
struct Progress {
  Model model;
  std::int64_t epochs = 0;
  std::vector<double> curve = {};  ///< the loss of each step
};

/// One pass over the images, in the order of this epoch.
void train_epoch(chorus::Strategy& strategy, const Inputs& inputs, Progress& progress, ProgressBar& bar) {
  auto steps = inputs.training.iterate(static_cast<std::uint64_t>(progress.epochs++));
  while (const auto step = steps.next()) {
    const auto shares = strategy.run(
        [&](const Batch& batch) { return progress.model.step(batch, step->global_size()); }, step->batches());
    progress.curve.push_back(strategy.reduce(chorus::ReduceOp::sum, shares));
    bar.advance(progress.curve.back());
  }
}

/// Restores the latest checkpoint; false where there is none.
bool resumed(const chorus::CheckpointManager& checkpoints) {
  try {
    return checkpoints.restore_latest().has_value();
  } catch (const chorus::Error& error) {
    if (error.code() != chorus::ErrorCode::invalid_argument) throw;
    throw examples::InputError(error.message());  // every rank has the same
  }
}

using Say = std::function<void(const std::string&)>;

/// All passes that are left, with a checkpoint after each where they are asked for.
void train_to_end(chorus::Strategy& strategy, const Inputs& inputs, const Settings& settings, Progress& progress,
                  const Say& say) {
  const chorus::CheckpointManager checkpoints(
      chorus::Checkpoint{{"model", progress.model}, {"epochs", progress.epochs}, {"curve", progress.curve}},
      settings.checkpoint, {.max_to_keep = 3});
  if (!settings.checkpoint.empty() && resumed(checkpoints)) {
    say(fmt::format("resumed after epoch {} from {}", progress.epochs, settings.checkpoint));
  }
  const auto last = static_cast<std::int64_t>(settings.epochs);
  const auto left = static_cast<std::size_t>(std::max<std::int64_t>(last - progress.epochs, 0));
  const std::size_t steps_an_epoch = (inputs.learned + settings.batch_size - 1) / settings.batch_size;
  ProgressBar bar(left * steps_an_epoch, strategy.extended().should_checkpoint());
  while (progress.epochs < last) {
    train_epoch(strategy, inputs, progress, bar);
    const double loss = progress.model.epoch_loss();
    if (!settings.checkpoint.empty()) checkpoints.save(progress.epochs);
    bar.clear();
    if (progress.epochs != 1 && progress.epochs % 5 != 0 && progress.epochs != last) continue;
    say(settings.strategy.reproducible ? fmt::format("epoch {:3}  loss {:.17g}", progress.epochs, loss)
                                       : fmt::format("epoch {:3}  loss {:.4f}", progress.epochs, loss));
  }
}

std::string title_of(const chorus::Strategy& strategy, const Settings& settings) {
  return fmt::format("train_digits: {} strategy, replicas: {}, {}, batches of {}", strategy.name(),
                     strategy.num_replicas_in_sync(), settings.optimizer, settings.batch_size);
}

void keep_curve(const std::vector<double>& curve, const std::string& title, const Settings& settings) {
  if (!settings.curve.empty()) train_digits::write_curve(curve, settings.curve);
  if (settings.plot.empty()) return;
  const bool drawn = train_digits::plot_curve(curve, settings.plot, title);
  fmt::print("{}\n",
             drawn ? "plot: " + settings.plot : "no plot: gnuplot is missing, or could not draw " + settings.plot);
}

int train(const chorus::Communicator& workers, const Settings& settings) {
  const Say say = [&](const std::string& line) {
    if (workers.rank() == 0) fmt::print("{}\n", line);
  };
  check_outputs(workers, settings);
  const auto strategy = train_digits::make_strategy(settings.strategy, workers);
  const auto scope = strategy->scope();
  const Inputs inputs = distribute(digits::load(workers, settings.data), settings, *strategy);
  say(fmt::format("{} strategy, replicas: {}; {} images to learn from, {} held out, {} per step", strategy->name(),
                  strategy->num_replicas_in_sync(), inputs.learned, inputs.held_out, settings.batch_size));

  Progress progress{Model(settings)};
  train_to_end(*strategy, inputs, settings, progress, say);
  for (const auto& step : inputs.test) {
    strategy->run([&](const Batch& batch) { progress.model.test(batch); }, step.batches());
  }
  say(fmt::format("held-out accuracy {:.2f} %", 100 * progress.model.accuracy()));
  if (workers.rank() == 0) keep_curve(progress.curve, title_of(*strategy, settings), settings);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_program("train_digits", [&](const chorus::Communicator& world) {
    CLI::App app("Learns handwritten digits under a strategy.", "train_digits");
    Settings settings;
    add_options(app, settings);
    if (const auto exit_code = examples::parse(app, argc, argv, world)) return *exit_code;
    const auto workers = train_digits::workers_of(settings.strategy, world);
    return workers ? train(*workers, settings) : EXIT_SUCCESS;
  });
}
