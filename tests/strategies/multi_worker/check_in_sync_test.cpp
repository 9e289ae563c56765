// SPDX-License-Identifier: Apache-2.0
// Variables compared across the workers: what differs on one is an error with its name on all.
#include "multi_worker/multi_worker.hpp"

#include <chorus/strategies/check_in_sync.hpp>
#include <chorus/strategies/optimizers.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using Vector = std::vector<float>;

TEST_P(MultiWorker, Case208_ADifferingVariableIsNamedOnEveryWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<Vector> weights(Vector(1000, 0.5F), {.name = "weights"});
  const Variable<double> bias(0, {.name = "bias"});
  Sgd optimizer{std::tuple(weights, bias), {.learning_rate = 0.1, .momentum = 0.9}};
  several.run([&] { optimizer.apply_gradients(std::tuple(Vector(1000, 0.1F), static_cast<double>(id()))); });
  check_in_sync(weights, bias, optimizer);
  if (replicas() < 3) return;  // one of two is as good as the other
  for (const int odd : {0, replicas() / 2, replicas() - 1}) {
    const auto set = [&](float value) {
      if (odd / GetParam() == job_rank()) weights.components()[static_cast<std::size_t>(odd % GetParam())][999] = value;
    };
    const float before = weights.value()[999];
    set(before + 1);
    const std::string where =
        job_size() == 1 ? std::to_string(odd) : std::to_string(odd) + " of worker " + std::to_string(odd / GetParam());
    expect_error(ErrorCode::mismatch, "most: \"weights\" on replica " + where + ". Write",
                 [&] { check_in_sync(weights, bias, optimizer); });
    check_in_sync(bias, optimizer);
    set(before);
    check_in_sync(weights, bias, optimizer);
  }
}

TEST_P(MultiWorker, Case208_WorkersThatDifferAmongThemselvesAreAllNamed) {
  if (job_size() < 3) GTEST_SKIP() << "needs three workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<int> v(0, {.name = "v"});
  if (job_rank() == 1) v.assign(1);
  const std::string names =
      GetParam() == 1 ? "\"v\" on replica 1 of worker 1." : "\"v\" on replica 2 of worker 1 and replica 3 of worker 1.";
  expect_error(ErrorCode::mismatch, names, [&] { check_in_sync(v); });
}

TEST_P(MultiWorker, Case208_EveryKSteps) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<double> v(0, {.name = "v"});
  int step = 0;
  const auto train = [&] {
    for (step = 1; step <= 10; ++step) {
      // From step 5 on the last replica goes its own way.
      several.run([&] { v.update([&](double& mine) { mine += id() == replicas() - 1 && step >= 5 ? 2 : 1; }); });
      if (step % 4 == 0) check_in_sync(v);
    }
  };
  if (replicas() == 1) return train();
  expect_error(ErrorCode::mismatch, "\"v\"", train);
  EXPECT_EQ(step, 8);
}

TEST_P(MultiWorker, Case208_AMergeThatFindsADifferenceNamesItOnEveryWorker) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<int> v(0, {.name = "v"});
  if (job_rank() == 0) v.assign(1);
  const auto merge = [&] { get_replica_context()->merge_call([&](Strategy& /*strategy*/) { check_in_sync(v); }); };
  for (int i = 0; i < 50; ++i) {  // whoever finds it first keeps nobody from finding it
    expect_error(ErrorCode::mismatch, "\"v\"", [&] { several.run(merge); });
  }
}

TEST_P(MultiWorker, WorkersThatCheckDifferentVariablesAreTold) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<int> v(0, {.name = "v"});
  const Variable<int> w(0, {.name = "w"});
  const bool last = job_rank() == job_size() - 1;
  const std::string who = "worker 0 and worker " + std::to_string(job_size() - 1);
  expect_error(ErrorCode::mismatch, who, [&] { last ? check_in_sync(v) : check_in_sync(w); });
  expect_error(ErrorCode::mismatch, who, [&] { last ? check_in_sync(v, w) : check_in_sync(w); });
  check_in_sync(v, w);
}

}  // namespace
}  // namespace chorus::test
