// SPDX-License-Identifier: Apache-2.0
// Strategies whose replicas run on GPUs of several processes: every worker's on the same, which NCCL does not connect.
#include "gpus/gpus.hpp"
#include "multi_worker/multi_worker.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace chorus::test {
namespace {

using testing::Each;

class WorkersOnGpus : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static MultiWorkerMirroredStrategy strategy(const CommunicationOptions& options = {}) {
    std::vector<Device> gpus = gpu_devices();
    gpus.resize(static_cast<std::size_t>(GetParam()), gpus.front());
    return {Communicator::world(), {.devices = std::move(gpus), .communication_options = options}};
  }
  [[nodiscard]] static int replicas() { return GetParam() * job_size(); }
  [[nodiscard]] static std::vector<float> mine() { return std::vector<float>(1000, static_cast<float>(id() + 1)); }
  [[nodiscard]] static float sum() { return static_cast<float>(replicas() * (replicas() + 1)) / 2; }
};

TEST_P(WorkersOnGpus, ReduceMemoryOfGpusOverAllReplicas) {
  MultiWorkerMirroredStrategy several = strategy();
  for (int time = 0; time < 4; ++time) {  // the workers take turns with communicators
    for (const auto& [op, expected] : {std::pair(ReduceOp::sum, sum()),
                                       {ReduceOp::average, sum() / static_cast<float>(replicas())},
                                       {ReduceOp::max, static_cast<float>(replicas())}}) {
      const auto reduced = several.run([&, op = op] { return all_reduced(op, mine()); });
      EXPECT_THAT(reduced.values(), Each(Each(expected))) << name(op);
    }
  }
}

TEST_P(WorkersOnGpus, SynchronizingWaitsInARunWithoutAReduction) {
  MultiWorkerMirroredStrategy several = strategy();
  set_delay(std::chrono::milliseconds(20));
  const auto copies = several.run([] { return copied_before_synchronize(); });
  EXPECT_THAT(copies.values(), Each(Each(7)));
  set_delay(std::chrono::microseconds(200));
}

TEST_P(WorkersOnGpus, SayWhatCannotBeReproducible) {
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  const auto reduce = [&] { return several.run([] { return all_reduced(ReduceOp::sum, mine()); }); };
  if (GetParam() > 1 && job_size() > 1) {
    EXPECT_THAT(thrown_text(reduce), testing::HasSubstr("reproducible sums of floating-point numbers"));
    expect_works(several);
  } else {
    EXPECT_THAT(reduce().values(), Each(Each(sum())));
  }
  const auto largest = several.run([] { return all_reduced(ReduceOp::max, mine()); });
  EXPECT_THAT(largest.values(), Each(Each(static_cast<float>(replicas())))) << "which is never rounded";
  const auto added = several.run([] { return all_reduced(ReduceOp::sum, std::vector<int>(10, 2)); });
  EXPECT_THAT(added.values(), Each(Each(2 * replicas())));
}

TEST_P(WorkersOnGpus, OneThatFailsIsToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const std::string text = thrown_text([&] {
    several.run([] {
      if (id() == 0) throw std::runtime_error("replica 0 fails");
      std::ignore = all_reduced(ReduceOp::sum, mine());
    });
  });
  EXPECT_THAT(text, testing::HasSubstr("replica 0 fails"));
  const auto sums = several.run([] { return all_reduced(ReduceOp::sum, mine()); });
  EXPECT_THAT(sums.values(), Each(Each(sum()))) << "the strategy works again";
}

/// The first replica waits for it in a stream, and then would for the other workers.
TEST_P(WorkersOnGpus, ALaterReplicaThatFailsIsToldToTheOthers) {
  if (job_size() == 1 || GetParam() == 1) GTEST_SKIP() << "needs two workers with two replicas";
  MultiWorkerMirroredStrategy several = strategy();
  const std::string text = thrown_text([&] {
    several.run([] {
      EXPECT_THAT(all_reduced(ReduceOp::sum, mine()), Each(sum()));
      if (id() == 1) throw std::runtime_error("replica 1 fails");
      std::ignore = all_reduced(ReduceOp::sum, mine());
    });
  });
  EXPECT_THAT(text, testing::HasSubstr("replica 1 fails"));
}

INSTANTIATE_TEST_SUITE_P(Gpus, WorkersOnGpus, testing::Values(1, 2));

}  // namespace
}  // namespace chorus::test
