// SPDX-License-Identifier: Apache-2.0
#include "strategy_choice.hpp"

#include "../program.hpp"

#include <chorus/device.hpp>
#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/mirrored_strategy.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/one_device_strategy.hpp>

namespace train_digits {
namespace {

/// The first devices of this process; all where `number` is 0.
std::vector<chorus::Device> devices(int number) {
  std::vector<chorus::Device> all = chorus::local_devices();
  if (number > static_cast<int>(all.size())) return chorus::shared_devices(number);
  if (number > 0) all.erase(all.begin() + number, all.end());
  return all;
}

void check(const StrategyChoice& choice) {
  const bool one_replica = choice.name == "default" || choice.name == "one_device";
  if (one_replica && choice.replicas > 1) {
    throw examples::InputError(
        fmt::format("--replicas {}: the strategy {} has one replica", choice.replicas, choice.name));
  }
}

}  // namespace

std::vector<std::string> strategy_names() {
  return {"default", "one_device", "mirrored", "multi_worker", "central_storage"};
}

std::optional<chorus::Communicator> workers_of(const StrategyChoice& choice, const chorus::Communicator& world) {
  if (choice.name == "multi_worker" || world.size() == 1) return world;
  if (world.rank() == 0) {
    fmt::print(stderr,
               "train_digits: --strategy {} is of one process: rank 0 trains, and the other {} of {} have nothing to "
               "do; with --strategy multi_worker all train\n",
               choice.name, world.size() - 1, world.size());
  }
  return world.split(world.rank() == 0 ? std::optional(0) : std::nullopt);
}

std::shared_ptr<chorus::Strategy> make_strategy(const StrategyChoice& choice, const chorus::Communicator& workers) {
  check(choice);
  const chorus::CommunicationOptions options{.reproducible = choice.reproducible};
  if (choice.name == "default") {
    const std::shared_ptr<void> not_owned;
    return {not_owned, &chorus::DefaultStrategy::instance()};
  }
  if (choice.name == "one_device") return std::make_shared<chorus::OneDeviceStrategy>(devices(1).front());
  if (choice.name == "central_storage") {
    return std::make_shared<chorus::CentralStorageStrategy>(devices(choice.replicas), std::nullopt, options);
  }
  if (choice.name == "mirrored") {
    return std::make_shared<chorus::MirroredStrategy>(devices(choice.replicas), nullptr, options);
  }
  chorus::MultiWorkerMirroredStrategy::Setup setup;
  // Ranks that the launcher has not bound would all take the first core.
  setup.devices = chorus::shared_devices(choice.replicas > 0 ? choice.replicas : 1);
  setup.communication_options = options;
  return std::make_shared<chorus::MultiWorkerMirroredStrategy>(workers, std::move(setup));
}

}  // namespace train_digits
