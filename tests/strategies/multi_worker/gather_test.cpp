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
  expect_error(ErrorCode::invalid_argument, "Strategy::gather of [1]: tensors of shapes (",
               [&] { std::ignore = several.gather(unequal, 0); });
}

}  // namespace
}  // namespace chorus::test
