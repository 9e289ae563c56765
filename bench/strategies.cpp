// SPDX-License-Identifier: Apache-2.0
#include "strategies.hpp"

#include "bare_threads.hpp"
#include "computation.hpp"
#include "console.hpp"
#include "crowding.hpp"
#include "measure.hpp"
#include "strategies_report.hpp"

#include <chorus/allreduce.hpp>
#include <chorus/barrier.hpp>
#include <chorus/bcast.hpp>
#include <chorus/strategies/mirrored_strategy.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/overlapped_all_reduce.hpp>
#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace chorus::bench {
namespace {

constexpr std::size_t tensor_count = 100, tensor_bytes = 10'000;
constexpr std::size_t overlapped_pack_bytes = 100'000;  // of all gradients in one pack nothing could be sent early

/// What is computed for each layer of a model.
using Gradients = std::vector<std::vector<float>>;

/// `number` devices of this process; they share its processors where there are fewer.
std::vector<Device> devices_for(int number) {
  const std::vector<Device> all = local_devices();
  if (static_cast<int>(all.size()) < number) return shared_devices(number);
  return {all.begin(), all.begin() + number};
}

std::unique_ptr<Strategy> make_strategy(const Communicator& world, const std::vector<Device>& devices) {
  if (world.size() == 1) return std::make_unique<MirroredStrategy>(devices);
  return std::make_unique<MultiWorkerMirroredStrategy>(world, MultiWorkerMirroredStrategy::Setup{.devices = devices});
}

class StrategyTables {
 public:
  StrategyTables(const Options& options, const Communicator& world, int replicas)
      : options_(options),
        world_(world),
        devices_(devices_for(replicas)),
        strategy_(make_strategy(world, devices_)),
        console_(world.rank(), doubling_sizes(options.sizes).size() + 3),
        form_{.name = strategy_->name(),
              .workers = world.size(),
              .replicas = replicas,
              .crowded = ranks_share_processors() || static_cast<int>(local_devices().size()) < replicas} {}

  [[nodiscard]] bool check();
  void measure_run();
  void measure_all_reduce();
  void measure_gradients();
  void measure_overlap(double reduction_us);

 private:
  using Reduce = std::function<void(ReplicaContext&, Gradients&)>;

  /// `calls` calls of `once(replica)` on every replica, in one run.
  template <class Once>
  [[nodiscard]] Block on_replicas(Once once) {
    return [this, once](std::size_t calls) {
      strategy_->run([&] {
        ReplicaContext& replica = *get_replica_context();
        for (std::size_t done = 0; done < calls; ++done) once(replica);
      });
    };
  }
  [[nodiscard]] Block of_gradients(const Reduce& reduce);
  void reduce_bare(const ReplicaContext& replica, std::span<float> values);
  [[nodiscard]] Effort effort(double seconds) const;

  const Options& options_;
  Communicator world_;
  std::vector<Device> devices_;
  std::unique_ptr<Strategy> strategy_;
  Console console_;
  StrategyForm form_;
};

Effort StrategyTables::effort(double seconds) const {
  Effort effort = {.repetitions = options_.iterations.value_or(2000),
                   .warmup = options_.warmup.value_or(100),
                   .limit = {},
                   .block_us = 500};  // the run around the calls of a block is a hundredth of it
  if (!options_.iterations) effort.limit = std::chrono::duration<double>(seconds);
  return effort;
}

void reduce_one_by_one(ReplicaContext& replica, Gradients& gradients) {
  for (std::vector<float>& each : gradients) replica.all_reduce_in_place(ReduceOp::sum, each);
}

void reduce_in_packs(ReplicaContext& replica, Gradients& gradients) {
  replica.all_reduce_in_place(ReduceOp::sum, gradients);
}

void reduce_compressed(ReplicaContext& replica, Gradients& gradients) {
  replica.all_reduce_in_place(ReduceOp::sum, gradients, {.compression = Compression::bfloat16});
}

/// The last tensor first, each with its share of the computation before it.
void reduce_overlapped(Gradients& gradients, const Computation& computation) {
  OverlappedAllReduce sums(ReduceOp::sum, gradients, {.bytes_per_pack = overlapped_pack_bytes});
  std::size_t left = gradients.size();
  computation.run(gradients.size(), [&] { sums.ready(gradients[--left]); });
  sums.wait();
}

bool StrategyTables::check() {
  console_.show("results");
  const int replicas = strategy_->num_replicas_in_sync();
  const float sum = static_cast<float>(replicas * (replicas + 1)) / 2;
  const auto wrong = strategy_->run([&] {
    ReplicaContext& replica = *get_replica_context();
    const Reduce ways[] = {
        reduce_one_by_one, reduce_in_packs, reduce_compressed,
        [](ReplicaContext&, Gradients& values) { reduce_overlapped(values, Computation(Compute::busy, 10)); }};
    int wrong_ways = 0;
    for (const Reduce& reduce : ways) {
      Gradients values(tensor_count, std::vector<float>(tensor_bytes / sizeof(float),
                                                        static_cast<float>(replica.replica_id_in_sync_group() + 1)));
      reduce(replica, values);
      const auto right = [sum](const auto& each) { return std::ranges::count(each, sum) == std::ssize(each); };
      if (!std::ranges::all_of(values, right)) ++wrong_ways;
    }
    return wrong_ways;
  });
  const int all_wrong = strategy_->reduce(ReduceOp::sum, wrong);
  if (all_wrong > 0) console_.warn("strategies: wrong sums of gradients");
  return all_wrong == 0;
}

void StrategyTables::measure_run() {
  console_.show("run");
  BareThreads threads(devices_);
  const std::vector<Block> sides = {[&](std::size_t calls) {
                                      for (std::size_t done = 0; done < calls; ++done) strategy_->run([] {});
                                    },
                                    [&](std::size_t calls) {
                                      const ThreadBinding binding(devices_[0]);
                                      for (std::size_t done = 0; done < calls; ++done) {
                                        if (devices_.size() > 1) threads.run();
                                        if (world_.size() > 1) barrier(world_);
                                      }
                                    }};
  const std::vector<Samples> samples = measure_interleaved(sides, effort(1));
  std::string other;
  if (devices_.size() > 1) other = "as many threads and a std::barrier before and after";
  if (world_.size() > 1) other += fmt::format("{}a barrier of the workers", other.empty() ? "" : ", and ");
  console_.say(run_table(form_, other.empty() ? "nothing" : other, {samples[0].us, samples[1].us}));
}

void StrategyTables::reduce_bare(const ReplicaContext& replica, std::span<float> values) {
  const ReplicaGroup& group = strategy_->extended().group();
  const bool several = devices_.size() > 1;
  if (several) allreduce(group.local(replica.local_replica()), values, ReduceOp::sum);
  if (world_.size() == 1) return;
  if (replica.local_replica() == 0) allreduce(*group.workers(), values, ReduceOp::sum);
  if (several) bcast(group.local(replica.local_replica()), values, 0);
}

void StrategyTables::measure_all_reduce() {
  const std::vector<std::size_t> sizes = doubling_sizes(options_.sizes);
  std::vector<std::vector<float>> values(devices_.size());
  const auto mine = [&](const ReplicaContext& replica) -> std::vector<float>& {
    return values[static_cast<std::size_t>(replica.local_replica())];
  };
  std::string other;
  if (devices_.size() > 1) other = "allreduce of the threads";
  if (world_.size() > 1) other += fmt::format("{}allreduce of the workers", other.empty() ? "" : ", ");
  if (devices_.size() > 1 && world_.size() > 1) other += ", bcast to the threads";
  console_.say(all_reduce_heading(form_, other.empty() ? "nothing" : other));
  for (const std::size_t wanted : sizes) {
    const std::size_t bytes = wanted - wanted % sizeof(float);
    console_.show(fmt::format("all_reduce: {} bytes", bytes));
    for (auto& each : values) each.assign(bytes / sizeof(float), 0);
    const std::vector<Block> sides = {
        on_replicas([&](ReplicaContext& replica) { replica.all_reduce_in_place(ReduceOp::sum, mine(replica)); }),
        on_replicas([&](ReplicaContext& replica) { reduce_bare(replica, mine(replica)); })};
    const std::vector<Samples> samples = measure_interleaved(sides, effort(0.5));
    console_.say(all_reduce_line(bytes, {samples[0].us, samples[1].us}));
  }
}

Block StrategyTables::of_gradients(const Reduce& reduce) {
  const auto gradients = std::make_shared<std::vector<Gradients>>(
      devices_.size(), Gradients(tensor_count, std::vector<float>(tensor_bytes / sizeof(float))));
  return on_replicas([=](ReplicaContext& replica) {
    reduce(replica, (*gradients)[static_cast<std::size_t>(replica.local_replica())]);
  });
}

void StrategyTables::measure_gradients() {
  console_.show("gradients");
  std::vector<std::pair<std::string, Block>> ways = {{"one by one", of_gradients(reduce_one_by_one)},
                                                     {"in packs", of_gradients(reduce_in_packs)}};
  if (world_.size() > 1) ways.emplace_back("in packs, as bfloat16", of_gradients(reduce_compressed));
  std::vector<Block> sides;
  for (const auto& [name, block] : ways) sides.push_back(block);
  const std::vector<Samples> samples = measure_interleaved(sides, effort(2));
  console_.say(gradients_heading(form_, tensor_count, tensor_bytes));
  for (std::size_t way = 0; way < ways.size(); ++way) {
    console_.say(gradients_line({ways[way].first, {samples[way].us, samples[0].us}}));
  }
  measure_overlap(quartiles(samples[1].us).median);
}

void StrategyTables::measure_overlap(double reduction_us) {
  const Computation computation(options_.compute, reduction_us);
  const auto compute = [&](ReplicaContext& /*replica*/, Gradients& gradients) {
    computation.run(gradients.size(), [] {});
  };
  const std::vector<Block> sides = {of_gradients(compute),
                                    of_gradients([&](ReplicaContext& replica, Gradients& gradients) {
                                      compute(replica, gradients);
                                      reduce_in_packs(replica, gradients);
                                    }),
                                    of_gradients([&](ReplicaContext& /*replica*/, Gradients& gradients) {
                                      reduce_overlapped(gradients, computation);
                                    })};
  const std::vector<Samples> samples = measure_interleaved(sides, effort(2));
  console_.say(overlap_of_gradients({samples[0].us, samples[1].us, samples[2].us, overlapped_pack_bytes}));
}

}  // namespace

bool run_strategies(const Options& options, const Communicator& world) {
  const int replicas = options.replicas.value_or(world.size() == 1 ? 2 : 1);
  if (world.size() == 1 && replicas == 1) {
    throw Refusal(
        "--replicas: one replica of one worker has nobody to reduce with: give 2 or more, or start more ranks");
  }
  StrategyTables tables(options, world, replicas);
  if (!tables.check()) return false;
  tables.measure_run();
  tables.measure_all_reduce();
  tables.measure_gradients();
  return true;
}

}  // namespace chorus::bench
