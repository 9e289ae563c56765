// SPDX-License-Identifier: Apache-2.0
// Structures gathered from all workers, leaf by leaf.
#include "core/gathered_rows.hpp"
#include "multi_worker/multi_worker.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

TEST_P(MultiWorker, Case62_EachLeafOfAStructureIsGathered) {
  MultiWorkerMirroredStrategy several = strategy();
  const Nested expected = nested_rows(numbers_below(replicas()));
  const auto rows = several.run([] { return nested_rows({id()}); });
  EXPECT_EQ(several.gather(rows, 0), expected);
  const auto inside = several.run([](const Nested& mine) { return get_replica_context()->all_gather(mine, 0); }, rows);
  for (const Nested& each : inside.values()) EXPECT_EQ(each, expected);
}

TEST_P(MultiWorker, AGatherOfStructuresThatDifferBetweenWorkersIsRefusedOnAll) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  using Lists = std::vector<std::vector<int>>;
  using Map = std::map<std::string, std::vector<int>>;
  const bool last = job_rank() == job_size() - 1;
  const auto lists = per_replica(several, std::vector(static_cast<std::size_t>(GetParam()), Lists(last ? 2 : 1)));
  const auto maps =
      per_replica(several, std::vector(static_cast<std::size_t>(GetParam()), Map{{last ? "a" : "b", {1}}}));
  const std::string who = "of worker 0 and of worker " + std::to_string(job_size() - 1);
  for (int round = 0; round < 2; ++round) {
    expect_error(ErrorCode::mismatch, who, [&] { std::ignore = several.gather(lists, 0); });
    expect_error(ErrorCode::mismatch, who, [&] { std::ignore = several.gather(maps, 0); });
    EXPECT_EQ(several.gather(several.run([] { return std::tuple(std::vector{id()}); }), 0),
              std::tuple(numbers_below(replicas())))
        << "works again";
  }
}

TEST_P(MultiWorker, Case59_ALeafWhoseShapesDifferBetweenWorkersIsNamedOnAll) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto unequal = several.run([] {
    return std::tuple(std::vector<int>(1), Tensor<int, 2>({1, static_cast<std::size_t>(1 + job_rank())}));
  });
  const std::string text = " of [1]: the tensors of replica 0, of shape (1, 1), and of replica " +
                           std::to_string(GetParam()) + ", of shape (1, 2), do not go together";
  expect_error(ErrorCode::invalid_argument, "Strategy::gather" + text,
               [&] { std::ignore = several.gather(unequal, 0); });
  expect_error(ErrorCode::invalid_argument, "ReplicaContext::all_gather" + text, [&] {
    std::ignore = several.run([](const auto& mine) { return get_replica_context()->all_gather(mine, 0); }, unequal);
  });
}

TEST_P(MultiWorker, Case59_ReplicasOfOneWorkerWhoseShapesDifferAreNamedOnAll) {
  if (GetParam() == 1) GTEST_SKIP() << "needs two replicas on a worker";
  MultiWorkerMirroredStrategy several = strategy();
  const auto last = static_cast<std::size_t>(replicas() - 1);
  const auto unequal = several.run([&] {
    const auto mine = static_cast<std::size_t>(id());
    return Tensor<int, 2>({1 + mine, mine == last ? 3U : 2U});
  });
  const std::string text =
      "and of replica " + std::to_string(last) + ", of shape (" + std::to_string(last + 1) + ", 3)";
  expect_error(ErrorCode::invalid_argument, text, [&] { std::ignore = several.gather(unequal, 0); });
  expect_works(several);
}

TEST_P(MultiWorker, ElementsOfDifferentTypesAreRefusedOnEveryWorker) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto gather = [&] {
    if (job_rank() == job_size() - 1) {
      std::ignore = several.gather(several.run([] { return std::tuple(std::vector<int>{3, 4}); }), 0);
    } else {
      std::ignore = several.gather(several.run([] { return std::tuple(std::vector<float>{1, 2}); }), 0);
    }
  };
  const std::string text = "Strategy::gather of [0]: worker 0 gives float32 elements, worker " +
                           std::to_string(job_size() - 1) + " int32 elements: give tensors of one type";
  expect_error(ErrorCode::mismatch, text, gather);
  expect_works(several);
}

TEST_P(MultiWorker, Case59_TensorsOfDifferentRanksAreRefusedOnEveryWorker) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  MultiWorkerMirroredStrategy several = strategy();
  const auto gather = [&] {
    if (job_rank() == 1) {
      std::ignore = several.gather(several.run([] { return Tensor<int, 2>({1, 2}); }), 0);
    } else {
      std::ignore = several.gather(several.run([] { return std::vector<int>(2); }), 0);
    }
  };
  const std::string text =
      "replica 0, of shape (2), and of replica " + std::to_string(GetParam()) + ", of shape (1, 2)";
  expect_error(ErrorCode::invalid_argument, text, gather);
  expect_works(several);
}

}  // namespace
}  // namespace chorus::test
