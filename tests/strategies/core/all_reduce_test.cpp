// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/strategy.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;

using MakeOps = std::function<std::unique_ptr<CrossDeviceOps>()>;
const std::vector<std::pair<const char*, MakeOps>> every_ops{
    {"collective", [] { return std::make_unique<CollectiveAllReduce>(); }},
    {"one device", [] { return std::make_unique<ReductionToOneDevice>(); }},
    {"hierarchical", [] { return std::make_unique<HierarchicalCopyAllReduce>(); }}};

TEST(AllReduce, Case67_InEveryReplica) {
  for (const auto& [title, make] : every_ops) {
    SCOPED_TRACE(title);
    MirroredStrategy strategy = mirrored(4, make());
    const auto mine = per_replica<std::vector<float>>(strategy, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    const auto by = [&](ReduceOp op) {
      return strategy.run([op](const auto& value) { return get_replica_context()->all_reduce(op, value); }, mine);
    };
    for (const auto& each : by(ReduceOp::sum).values()) EXPECT_THAT(each, ElementsAre(16, 20));
    for (const auto& each : by(ReduceOp::average).values()) EXPECT_THAT(each, ElementsAre(4, 5));
  }
}

/// The sum over the replicas of what `upstream` makes of each one's y = all_reduce(op, x * x).
double loss_of(Strategy& strategy, ReduceOp op, const PerReplica<double>& x, const PerReplica<double>& upstream) {
  const auto forward = [op](double mine, double factor) {
    return factor * get_replica_context()->all_reduce(op, mine * mine);
  };
  return strategy.reduce(ReduceOp::sum, strategy.run(forward, x, upstream));
}

/// The gradient of that by each replica's x: the upstream gradients reduced by the same operation.
PerReplica<double> gradient_of(Strategy& strategy, ReduceOp op, const PerReplica<double>& x,
                               const PerReplica<double>& upstream) {
  const auto backward = [op](double mine, double factor) {
    return 2 * mine * get_replica_context()->all_reduce(op, factor);
  };
  return strategy.run(backward, x, upstream);
}

TEST(AllReduce, Case68_TheGradientIsTheSameReductionOfTheGradients) {
  MirroredStrategy two = mirrored(2);
  const auto x = per_replica<double>(two, {3, 5});
  const auto ones = per_replica<double>(two, {1, 1});
  EXPECT_THAT(gradient_of(two, ReduceOp::sum, x, ones).values(), ElementsAre(4 * 3, 4 * 5));
  EXPECT_THAT(gradient_of(two, ReduceOp::average, x, ones).values(), ElementsAre(2 * 3, 2 * 5));
}

TEST(AllReduce, Case68_TheGradientIsWhatDifferencesGive) {
  for (const int replicas : {1, 2, 4, 8}) {  // powers of two, whose averages are exact
    MirroredStrategy strategy = mirrored(replicas);
    std::vector<double> points;
    std::vector<double> factors;
    for (int i = 0; i < replicas; ++i) {
      points.push_back(3 - 2 * i);
      factors.push_back(1 + i * i);
    }
    const auto upstream = per_replica(strategy, factors);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
      const auto gradient = gradient_of(strategy, op, per_replica(strategy, points), upstream);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto at = [&](double change) {
          std::vector<double> moved = points;
          moved[i] += change;
          return loss_of(strategy, op, per_replica(strategy, moved), upstream);
        };
        EXPECT_EQ(gradient[i], (at(1) - at(-1)) / 2) << "exact, as the loss is a parabola";
      }
    }
  }
}

TEST(AllReduce, Case73_OutsideOfTheReplicasAndByMaxAndMin) {
  MirroredStrategy strategy = mirrored(3);
  ReplicaContext* kept = nullptr;
  const auto most = strategy.run([&] {
    if (id() == 0) kept = get_replica_context();
    return std::tuple(get_replica_context()->all_reduce(ReduceOp::max, id()),
                      get_replica_context()->all_reduce(ReduceOp::min, id()));
  });
  for (const auto& each : most.values()) EXPECT_EQ(each, std::tuple(2, 0));
  EXPECT_NE(kept, nullptr);
  strategy.run([&] {
    if (id() == 0) kept = get_replica_context();
    get_replica_context()->merge_call([&](Strategy&) {
      expect_error(ErrorCode::wrong_context, "all_reduce", [&] { std::ignore = kept->all_reduce(ReduceOp::sum, 1); });
    });
  });
}

TEST_P(WithReplicas, Case74_EveryReplicaCountsForEveryOps) {
  for (const auto& [title, make] : every_ops) {
    SCOPED_TRACE(title);
    MirroredStrategy strategy = mirrored(replicas(), make());
    const auto powers = strategy.run([] { return 1 << id(); });
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, powers), (1 << replicas()) - 1);
    const auto inside =
        strategy.run([](int mine) { return get_replica_context()->all_reduce(ReduceOp::sum, mine); }, powers);
    EXPECT_THAT(inside.values(), testing::Each((1 << replicas()) - 1));
  }
}

TEST_P(WithReplicas, Case80_ManyTensorsOfSeveralTypesKeepTheirPlaces) {
  using Many = std::vector<std::tuple<std::vector<float>, double, std::vector<std::int64_t>>>;
  for (const std::size_t bytes_per_pack : {0, 1, 64, 1000}) {
    MirroredStrategy strategy = mirrored(replicas(), nullptr, {.bytes_per_pack = bytes_per_pack});
    const auto sums = strategy.run([] {
      Many many(20);
      for (std::size_t i = 0; i < many.size(); ++i) {
        auto& [floats, number, integers] = many[i];
        floats.assign(i, static_cast<float>(id() + static_cast<int>(i)));
        number = id();
        integers.assign(30 - i, id() * 100);
      }
      return get_replica_context()->all_reduce(ReduceOp::sum, many);
    });
    const int ids = replicas() * (replicas() - 1) / 2;
    for (const Many& many : sums.values()) {
      for (std::size_t i = 0; i < many.size(); ++i) {
        const auto& [floats, number, integers] = many[i];
        ASSERT_EQ(floats.size(), i);
        EXPECT_THAT(floats, testing::Each(static_cast<float>(ids + replicas() * static_cast<int>(i))));
        EXPECT_EQ(number, ids);
        EXPECT_THAT(integers, testing::Each(100 * ids));
      }
    }
  }
}

/// The sum of these numbers depends on the order they are added in, unless it is exact; between workers see Case206.
TEST(AllReduce, Case76_ResultsAreTheSameForEverySizeOfPacks) {
  for (const std::size_t bytes : {0U, 1U, 4U, 12U, 16U, 28U, 1000U}) {
    MirroredStrategy strategy = mirrored(3, nullptr, {.bytes_per_pack = bytes});
    const auto sums = strategy.run([] {
      const auto mine = static_cast<float>(id() + 1);
      return get_replica_context()->all_reduce(
          ReduceOp::sum, std::tuple(std::vector<float>(3, mine), std::vector<float>(4, 10 * mine)));
    });
    for (const auto& [threes, fours] : sums.values()) {
      EXPECT_EQ(threes, std::vector<float>(3, 6)) << bytes;
      EXPECT_EQ(fours, std::vector<float>(4, 60)) << bytes;
    }
  }
}

TEST(AllReduce, Case55_ReproducibleSumsHaveTheSameBitsForEveryLayout) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponents(-30, 30);
  std::vector<float> numbers(8);
  for (float& each : numbers) each = std::ldexp(exponents(random), static_cast<int>(exponents(random)));
  MirroredStrategy strategy = mirrored(8, nullptr, {.reproducible = true});
  std::vector<float> seen;
  for (int turn = 0; turn < 8; ++turn) {
    std::rotate(numbers.begin(), numbers.begin() + 1, numbers.end());
    const auto mine = per_replica<float>(strategy, numbers);
    const auto inside =
        strategy.run([](float value) { return get_replica_context()->all_reduce(ReduceOp::sum, value); }, mine);
    for (const float each : inside.values()) EXPECT_EQ(each, inside[0]);
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, mine), inside[0]);
    seen.push_back(inside[0]);
  }
  EXPECT_THAT(seen, testing::Each(seen[0]));
}

TEST(AllReduce, MapsWithOtherKeysAreAMismatch) {
  MirroredStrategy strategy = mirrored(2);
  const auto reduce = [](const std::string& of_replica_1) {
    const std::map<std::string, double> value{{id() == 1 ? of_replica_1 : "loss", 1}};
    return get_replica_context()->all_reduce(ReduceOp::sum, value);
  };
  expect_error(ErrorCode::mismatch, "all_reduce by sum", [&] { strategy.run([&] { reduce("accuracy"); }); });
  for (const auto& sum : strategy.run([&] { return reduce("loss"); }).values()) EXPECT_EQ(sum.at("loss"), 2);
}

TEST(AllReduce, ReproducibleSumsAndAveragesAreTheSameOnEveryReplica) {
  for (const int replicas : {1, 2, 4, 8}) {
    MirroredStrategy strategy = mirrored(replicas, nullptr, {.reproducible = true});
    const auto thirds = strategy.run([] { return std::vector<float>(8, static_cast<float>(1 + id()) / 3); });
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
      const auto inside =
          strategy.run([op](const auto& mine) { return get_replica_context()->all_reduce(op, mine); }, thirds);
      for (const auto& each : inside.values()) EXPECT_EQ(each, inside[0]);
      EXPECT_EQ(strategy.reduce(op, thirds), inside[0]);
    }
  }
}

}  // namespace
}  // namespace chorus::test
