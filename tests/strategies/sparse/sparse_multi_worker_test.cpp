// SPDX-License-Identifier: Apache-2.0
// Slices over every rank of a job, with 1 and 2 replicas on each, against their sum one after the other.
#include "mpi/job.hpp"
#include "sparse/slices.hpp"

#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/variable.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

class SparseMultiWorker : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static MultiWorkerMirroredStrategy strategy(std::unique_ptr<CrossDeviceOps> ops = nullptr,
                                                            const CommunicationOptions& options = {}) {
    MultiWorkerMirroredStrategy::Setup setup;
    setup.devices = some_devices(GetParam());
    setup.cross_device_ops = std::move(ops);
    setup.communication_options = options;
    return {Communicator::world(), std::move(setup)};
  }
  [[nodiscard]] static int replicas() { return GetParam() * job_size(); }
  /// Those of this worker's replicas.
  template <class T>
  [[nodiscard]] static std::vector<T> mine(const std::vector<T>& all) {
    const auto first = all.begin() + job_rank() * GetParam();
    return {first, first + GetParam()};
  }
};

INSTANTIATE_TEST_SUITE_P(ReplicasOfEachWorker, SparseMultiWorker, testing::Values(1, 2));

TEST_P(SparseMultiWorker, SlicesAddUpAsTheyDoOneAfterTheOther) {
  for (const double density : {0.0, 0.03, 0.1, 0.4, 1.0, 3.0}) {
    for (const bool reproducible : {false, true}) {
      int whole_tensors = 0;
      MultiWorkerMirroredStrategy several =
          strategy(std::make_unique<Counting>(whole_tensors), {.reproducible = reproducible});
      const std::vector<TableSlices> all = drawn({.density = density, .seed = 5}, replicas());
      for (const auto& [op, divisor] : {std::pair(ReduceOp::sum, 1), {ReduceOp::average, replicas()}}) {
        const TableSlices expected = summed(all, static_cast<float>(divisor));
        const auto outside = several.extended().reduce_to(op, per_replica(several, mine(all)));
        const auto inside =
            several.run([op = op](const TableSlices& slices) { return get_replica_context()->all_reduce(op, slices); },
                        per_replica(several, mine(all)));
        for (const TableSlices& each : outside.values()) expect_same(each, expected);
        for (const TableSlices& each : inside.values()) expect_same(each, expected);
      }
      if (density <= 0.03 || replicas() == 1) {
        EXPECT_EQ(whole_tensors, 0) << density;
      }
    }
  }
}

/// Every worker gives half of the rows, the same on all of them: as the replicas of a worker send one row for all, the
/// way depends on the workers; to have the same bits it must not.
TEST_P(SparseMultiWorker, RowsOfAWorkersReplicasAreSentOnce) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  for (const bool reproducible : {false, true}) {
    int whole_tensors = 0;
    MultiWorkerMirroredStrategy several =
        strategy(std::make_unique<Counting>(whole_tensors), {.reproducible = reproducible});
    std::vector<std::int64_t> indices(20);
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(2 * i);
    const TableSlices half(Table({20, 16}), indices, {40, 16});
    std::ignore = several.run([&] { return get_replica_context()->all_reduce(ReduceOp::sum, half); });
    const int senders = reproducible ? replicas() : job_size();
    const bool dense = static_cast<std::size_t>(senders) * 20 * (64 + 8) > 2 * 40 * std::size_t{64};
    EXPECT_EQ(whole_tensors, dense ? 1 : 0);
  }
}

TEST_P(SparseMultiWorker, Case206_ReproducibleSumsHaveTheBitsOfOneWorker) {
  MultiWorkerMirroredStrategy several = strategy(nullptr, {.reproducible = true});
  MirroredStrategy alone = mirrored(replicas(), nullptr, {.reproducible = true});
  for (const std::size_t length : {std::size_t{64}, std::size_t{100'000}}) {  // whole tensors, and slices
    std::mt19937 random(7);
    std::uniform_real_distribution<float> numbers(-1, 1);
    std::vector<ListSlices> all;
    for (int i = 0; i < replicas(); ++i) {
      ListSlices slices = list_slices({}, {}, length);
      for (std::int64_t k = 0; k < 128; ++k) {
        slices.indices.push_back(k % 64);
        slices.values.push_back(numbers(random));
      }
      all.push_back(std::move(slices));
    }
    const ListSlices here = alone.reduce(ReduceOp::sum, per_replica(alone, all));
    const auto there =
        several.run([](const ListSlices& slices) { return get_replica_context()->all_reduce(ReduceOp::sum, slices); },
                    per_replica(several, mine(all)));
    for (const ListSlices& each : there.values()) expect_same(each, here);
    expect_same(several.reduce(ReduceOp::sum, per_replica(several, mine(all))), here);
  }
}

TEST_P(SparseMultiWorker, DifferentTensorsAreRefusedOnEveryWorker) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const std::size_t length = job_rank() == job_size() - 1 ? 9 : 10;
  const auto slices = [&] { return list_slices({0}, {1}, length); };
  const auto all_reduce = [&] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, slices()); };
  for (int i = 0; i < 50; ++i) {  // whoever finds it first keeps nobody from finding it
    expect_error(ErrorCode::invalid_argument, "slices of different tensors",
                 [&] { std::ignore = several.reduce(ReduceOp::sum, several.run(slices)); });
    expect_error(ErrorCode::invalid_argument, "slices of different tensors", [&] { several.run(all_reduce); });
  }
}

TEST_P(SparseMultiWorker, Case71_SlicesOnOneWorkerAndATensorOnTheOther) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto disagree = [&] {
    if (job_rank() == 0)
      std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, std::vector<float>(10));
    else
      std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, list_slices({0}, {1}));
  };
  try {
    several.run(disagree);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::mismatch || error.code() == ErrorCode::revoked) << error.what();
  }
  EXPECT_EQ(several.reduce(ReduceOp::sum, several.run([] { return 1; })), replicas()) << "works again";
}

/// Writes over what calls that have ended had on this thread's stack, and in memory of up to `bytes`.
[[gnu::noinline]] void write_over(std::size_t bytes) {
  std::array<volatile std::uint8_t, 65536> stack;
  for (auto& each : stack) each = 0xA5;
  std::vector<std::vector<std::uint8_t>> blocks;
  for (int i = 0; i < 100; ++i) blocks.emplace_back(bytes, static_cast<std::uint8_t>(0xA5));
  EXPECT_EQ(stack[bytes % stack.size()], blocks.back().back());
}

/// Replica 0 has what replica 1 gives, and waits for the other worker to send both; meanwhile replica 1 gives up.
TEST_P(SparseMultiWorker, AReplicaThatGivesUpLeavesItsRowsToThoseWhoReadThem) {
  if (job_size() == 1 || GetParam() == 1) GTEST_SKIP() << "needs two workers with two replicas";
  constexpr auto late = std::chrono::milliseconds(600);
  constexpr auto patience = late / 6;
  MultiWorkerMirroredStrategy several = strategy();
  constexpr std::size_t length = 100'000;
  const auto mine = [] { return list_slices({id(), 50'000}, {static_cast<float>(id() + 1), 1}, length); };
  std::vector<std::optional<ListSlices>> results(static_cast<std::size_t>(GetParam()));
  const Outcome outcome = outcome_of([&] {
    several.run([&] {
      const auto local = static_cast<std::size_t>(get_replica_context()->local_replica());
      if (job_rank() != 0) std::this_thread::sleep_for(late);
      const bool gives_up = id() == 1;
      try {
        results[local] = get_replica_context()->all_reduce(
            ReduceOp::sum, mine(), gives_up ? CommunicationOptions{.timeout = patience} : CommunicationOptions{});
      } catch (const Error&) {
        if (gives_up) write_over(2 * sizeof(std::int64_t));
        throw;
      }
    });
  });
  EXPECT_TRUE(outcome.code) << "a replica has given up";
  if (job_rank() != 0) {
    ListSlices expected = list_slices({}, {}, length);
    for (int i = 0; i < replicas(); ++i) {
      expected.indices.push_back(i);
      expected.values.push_back(static_cast<float>(i + 1));
    }
    expected.indices.push_back(50'000);
    expected.values.push_back(static_cast<float>(replicas()));
    for (const std::optional<ListSlices>& each : results) {  // none where the failure was told before
      if (each) expect_same(*each, expected);
    }
  }
  EXPECT_EQ(several.reduce(ReduceOp::sum, several.run([] { return 1; })), replicas()) << "works again";
}

TEST_P(SparseMultiWorker, VariablesAndOptimizersOfAllWorkers) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const auto n = static_cast<float>(replicas());
  const Variable<std::vector<float>> first(std::vector<float>(2),
                                           {.aggregation = VariableAggregation::only_first_replica});
  several.run([&] { first.scatter_update(list_slices({1}, {static_cast<float>(id() + 7)}, 2)); });
  EXPECT_THAT(first.components(), Each(ElementsAre(0, 7)));
  const Variable<std::vector<float>> product(std::vector<float>{1, 1}, {.aggregation = VariableAggregation::sum});
  several.run([&] { product.scatter_mul(list_slices({0}, {static_cast<float>(id() + 1)}, 2)); });
  EXPECT_THAT(product.components(), Each(ElementsAre(factorial(replicas()), 1)));
  const Variable<std::vector<float>> v(std::vector<float>(1000));
  Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 1}};
  several.run([&] { optimizer.apply_gradients(std::tuple{list_slices({999, id()}, {1, 5}, 1000)}); });
  for (const auto& each : v.components()) {
    EXPECT_EQ(each[999], -n);
    for (int i = 0; i < 998; ++i) EXPECT_EQ(each[static_cast<std::size_t>(i)], i < replicas() ? -5 : 0);
  }
}

}  // namespace
}  // namespace chorus::test
