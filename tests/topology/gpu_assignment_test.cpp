// SPDX-License-Identifier: Apache-2.0
#include "topology/gpu_assignment.hpp"

#include <chorus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace chorus {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::vector<int>>;

constexpr int none = out_of_reach;

/// What is to be least, in the order of importance, and then the assignment itself.
struct Rank {
  int most = 0;
  int distance = 0;
  int squares = 0;
  std::vector<int> gpus;

  friend auto operator<=>(const Rank&, const Rank&) = default;
};

Rank rated(const Rows& distances, const std::vector<int>& gpus) {
  Rank rank{.gpus = gpus};
  std::vector<int> loads(distances[0].size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i] < 0) continue;
    rank.distance += distances[i][static_cast<std::size_t>(gpus[i])];
    ++loads[static_cast<std::size_t>(gpus[i])];
  }
  for (const int load : loads) {
    rank.most = std::max(rank.most, load);
    rank.squares += load * load;
  }
  return rank;
}

/// Looks at all assignments.
std::vector<int> by_force(const Rows& distances) {
  std::optional<Rank> best;
  std::vector<int> gpus(distances.size());
  const auto go_on = [&](const auto& self, std::size_t rank) -> void {
    if (rank == gpus.size()) {
      Rank found = rated(distances, gpus);
      if (!best || found < *best) best = found;
      return;
    }
    gpus[rank] = -1;
    bool any = false;
    for (std::size_t gpu = 0; gpu < distances[rank].size(); ++gpu) {
      if (distances[rank][gpu] == none) continue;
      gpus[rank] = static_cast<int>(gpu);
      any = true;
      self(self, rank + 1);
    }
    if (!any) self(self, rank + 1);
  };
  go_on(go_on, 0);
  return best->gpus;
}

TEST(AssignGpus, GivesEachRankTheNearest) {
  EXPECT_THAT(assign_gpus({{3, 1}, {1, 3}}), ElementsAre(1, 0));
  EXPECT_THAT(assign_gpus({{1, 3}, {1, 3}, {3, 1}, {3, 1}}), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(assign_gpus({{0, 3}, {0, 1}}), ElementsAre(0, 1)) << "whom it costs less goes away";
}

TEST(AssignGpus, GivesWhatTheGuideSays) {  // docs/gpu.md
  EXPECT_THAT(assign_gpus({{1, 2, 3, 3}, {2, 1, 3, 3}, {3, 3, 2, 1}, {3, 3, 1, 2}}), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(assign_gpus({{1, 2, 3, 3}, {1, 2, 3, 3}, {2, 1, 3, 3}, {2, 1, 3, 3}}), ElementsAre(0, 2, 1, 3));
}

TEST(AssignGpus, SpreadsRanksThatAreEquallyNearInTheirOrder) {
  EXPECT_THAT(assign_gpus(Rows(4, {3, 3})), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(assign_gpus(Rows(5, {3, 3, 3, 3})), ElementsAre(0, 0, 1, 2, 3)) << "no GPU is left out";
  EXPECT_THAT(assign_gpus(Rows(2, {3, 3, 3, 3})), ElementsAre(0, 1));
  EXPECT_THAT(assign_gpus(Rows(3, {3})), ElementsAre(0, 0, 0));
}

TEST(AssignGpus, LoadsNoGpuWithMoreThanItHasTo) {
  EXPECT_THAT(assign_gpus(Rows(4, {0, 3})), ElementsAre(0, 0, 1, 1)) << "all are next to the same one";
  EXPECT_THAT(assign_gpus({{0, none}, {0, none}, {0, none}, {none, 0}}), ElementsAre(0, 0, 0, 1));
}

TEST(AssignGpus, LeavesOutRanksThatCanUseNone) {
  EXPECT_THAT(assign_gpus({}), ElementsAre());
  EXPECT_THAT(assign_gpus({{}, {}}), ElementsAre(-1, -1));
  EXPECT_THAT(assign_gpus({{none, none}, {1, 0}, {1, 0}}), ElementsAre(-1, 0, 1));
}

TEST(AssignGpus, IsWhatLookingAtAllAssignmentsGives) {
  std::mt19937 random(20260);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t ranks = 1 + random() % 6, gpus = 1 + random() % 4;
    const unsigned kinds = 1 + random() % 4;  // few different distances make many equals
    Rows distances(ranks, std::vector<int>(gpus));
    for (std::vector<int>& row : distances) {
      for (int& distance : row) distance = random() % 5 == 0 ? none : static_cast<int>(random() % kinds);
    }
    ASSERT_EQ(assign_gpus(distances), by_force(distances)) << "round " << round;
  }
}

TEST(AssignGpus, TakesNoTimeForTheLargestNodes) {
  std::mt19937 random(7);
  Rows distances(256, std::vector<int>(16));
  for (std::vector<int>& row : distances) {
    for (int& distance : row) distance = static_cast<int>(random() % 4);
  }
  Rows crowded(256, std::vector<int>(16, none));  // all but one see the first GPU alone
  for (std::vector<int>& row : crowded) row[0] = 0;
  std::ranges::fill(crowded[255], 0);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(rated(distances, assign_gpus(distances)).most, 16);
  EXPECT_EQ(rated(crowded, assign_gpus(crowded)).most, 255);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

SeenGpu gpu(std::uint8_t number, GpuDistance distance = GpuDistance::machine) { return {{number}, distance}; }

/// What the error says.
std::string rejection(const std::vector<GpuUser>& ranks, const std::vector<int>& wanted) {
  try {
    static_cast<void>(take_gpus(ranks, wanted, "nearest_gpu on rank 0"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_environment);
    return error.message();
  }
  return "accepted";
}

TEST(TakeGpus, TellsThemApartByUuid) {
  EXPECT_THAT(take_gpus({{1, {gpu(7), gpu(8)}}, {1, {gpu(8), gpu(7)}}}, {}, ""), ElementsAre(0, 0))
      << "the same two in another order";
  EXPECT_THAT(take_gpus({{1, {gpu(7)}}, {1, {gpu(8)}}, {1, {gpu(9)}}}, {}, ""), Each(0)) << "one for each rank";
  EXPECT_THAT(take_gpus({{1, {gpu(7)}}, {1, {gpu(7), gpu(8)}}}, {}, ""), ElementsAre(0, 1));
}

TEST(TakeGpus, LooksAtEachNodeByItself) {
  const std::vector<SeenGpu> two = {gpu(1), gpu(2)};
  EXPECT_THAT(take_gpus({{5, two}, {3, two}, {5, two}, {3, two}}, {}, ""), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(take_gpus({{5, two}, {3, {}}, {5, two}}, {}, ""), ElementsAre(0, -1, 1));
}

TEST(TakeGpus, GoesByTheDistance) {
  const std::vector<SeenGpu> second = {gpu(1, GpuDistance::machine), gpu(2, GpuDistance::numa)};
  const std::vector<SeenGpu> first = {gpu(1, GpuDistance::beside), gpu(2, GpuDistance::package)};
  EXPECT_THAT(take_gpus({{1, second}, {1, first}}, {}, ""), ElementsAre(1, 0));
  EXPECT_THAT(take_gpus({{1, second}, {1, second}}, {}, ""), ElementsAre(0, 1));
}

TEST(TakeGpus, DoesWhatIsWanted) {
  const std::vector<SeenGpu> two = {gpu(1), gpu(2)};
  EXPECT_THAT(take_gpus({{1, two}, {2, two}, {1, two}}, {1, 0, 7}, ""), ElementsAre(1, 1, 0));
}

TEST(TakeGpus, RefusesWhatCannotBe) {
  const std::vector<SeenGpu> two = {gpu(1), gpu(2)};
  EXPECT_EQ(rejection({{1, two}, {2, two}, {1, two}}, {1}),
            "nearest_gpu on rank 0: environment variable CHORUS_GPUS=1: rank 2 is number 1 on its node (from 0) and "
            "there is 1 entry; name a GPU for each");
  EXPECT_THAT(rejection({{1, two}, {1, {gpu(3)}}}, {0, 1}),
              HasSubstr("CHORUS_GPUS=0,1: entry 1 names GPU 1 for rank 1, which can use 0 to 0; name one by the number "
                        "that CUDA gives it in that process"));
  EXPECT_THAT(rejection({{1, {}}}, {0}), HasSubstr("which can use none"));
}

}  // namespace
}  // namespace chorus
