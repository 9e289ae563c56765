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

using testing::Each;
using testing::ElementsAre;

using MakeOps = std::function<std::unique_ptr<CrossDeviceOps>()>;
const std::vector<std::pair<const char*, MakeOps>> every_ops{
    {"collective", [] { return std::make_unique<CollectiveAllReduce>(); }},
    {"one device", [] { return std::make_unique<ReductionToOneDevice>(); }},
    {"hierarchical", [] { return std::make_unique<HierarchicalCopyAllReduce>(); }}};

TEST_P(WithReplicas, Case67_InEveryReplica) {
  for (const auto& [title, make] : every_ops) {
    SCOPED_TRACE(title);
    MirroredStrategy strategy = mirrored(replicas(), make());
    const auto odd_and_even = [](int i) {
      return std::vector{2.0F * static_cast<float>(i) + 1, 2.0F * static_cast<float>(i) + 2};
    };
    const auto mine = per_replica(strategy, list_of(replicas(), odd_and_even));
    const auto by = [&](ReduceOp op) {
      return strategy.run([op](const auto& value) { return get_replica_context()->all_reduce(op, value); }, mine);
    };
    const auto n = static_cast<float>(replicas());
    EXPECT_THAT(by(ReduceOp::sum).values(), Each(ElementsAre(n * n, n * n + n)));
    EXPECT_THAT(by(ReduceOp::average).values(), Each(ElementsAre(n, n + 1)));
    EXPECT_THAT(by(ReduceOp::min).values(), Each(ElementsAre(1, 2)));
    EXPECT_THAT(by(ReduceOp::max).values(), Each(ElementsAre(2 * n - 1, 2 * n)));
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

TEST_P(WithReplicas, Case68_TheGradientIsTheSameReductionOfTheGradients) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto x = per_replica(strategy, list_of(replicas(), [](int i) { return 3.0 + 2 * i; }));
  const auto ones = per_replica(strategy, std::vector<double>(static_cast<std::size_t>(replicas()), 1));
  const auto times = [](int factor) { return list_of(replicas(), [&](int i) { return factor * (3.0 + 2 * i); }); };
  EXPECT_EQ(strategy.local_results(gradient_of(strategy, ReduceOp::sum, x, ones)), times(2 * replicas()));
  EXPECT_EQ(strategy.local_results(gradient_of(strategy, ReduceOp::average, x, ones)), times(2));
}

TEST_P(WithReplicas, Case68_TheGradientIsWhatDifferencesGive) {
  MirroredStrategy strategy = mirrored(replicas());
  const std::vector<double> points = list_of(replicas(), [](int i) { return 3.0 - 2 * i; });
  const auto upstream = per_replica(strategy, list_of(replicas(), [](int i) { return 1.0 + i * i; }));
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
    const auto gradient = gradient_of(strategy, op, per_replica(strategy, points), upstream);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto at = [&](double change) {
        std::vector<double> moved = points;
        moved[i] += change;
        return loss_of(strategy, op, per_replica(strategy, moved), upstream);
      };
      EXPECT_NEAR(gradient[i], (at(1) - at(-1)) / 2, 1e-9) << "no more than rounded, as the loss is a parabola";
    }
  }
}

TEST_P(WithReplicas, Case73_OutsideOfTheReplicasAndByMaxAndMin) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto most = strategy.run([&] {
    return std::tuple(get_replica_context()->all_reduce(ReduceOp::max, id()),
                      get_replica_context()->all_reduce(ReduceOp::min, id()));
  });
  EXPECT_THAT(most.values(), Each(std::tuple(last(), 0)));
  ReplicaContext* kept = nullptr;
  strategy.run([&] {
    if (id() == 0) kept = get_replica_context();
    get_replica_context()->merge_call([&](Strategy&) {
      expect_error(ErrorCode::wrong_context, "all_reduce", [&] { std::ignore = kept->all_reduce(ReduceOp::sum, 1); });
      expect_error(ErrorCode::wrong_context, "get_replica_context",
                   [] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1); });
    });
  });
  const auto scope = strategy.scope();
  expect_error(ErrorCode::wrong_context, "Strategy::reduce",
               [] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1); });
  expect_error(ErrorCode::wrong_context, "Strategy::reduce", [] { std::ignore = *get_replica_context(); });
}

TEST_P(WithReplicas, Case74_EveryReplicaCountsForEveryOps) {
  for (const auto& [title, make] : every_ops) {
    SCOPED_TRACE(title);
    MirroredStrategy strategy = mirrored(replicas(), make());
    const auto powers = strategy.run([] { return 1 << id(); });
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, powers), (1 << replicas()) - 1);
    const auto inside =
        strategy.run([](int mine) { return get_replica_context()->all_reduce(ReduceOp::sum, mine); }, powers);
    EXPECT_THAT(inside.values(), Each((1 << replicas()) - 1));
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
        EXPECT_THAT(floats, Each(static_cast<float>(ids + replicas() * static_cast<int>(i))));
        EXPECT_EQ(number, ids);
        EXPECT_THAT(integers, Each(100 * ids));
      }
    }
  }
}

/// What all_reduce makes of `value(id())` in packs of so many bytes, the same on every replica.
template <class Value>
auto in_packs(MirroredStrategy& strategy, std::size_t bytes, const Value& value) {
  const auto sums = strategy.run(
      [&] { return get_replica_context()->all_reduce(ReduceOp::sum, value(id()), {.bytes_per_pack = bytes}); });
  for (const auto& each : sums.values()) EXPECT_EQ(each, sums[0]);
  return sums[0];
}

TEST_P(WithReplicas, Case76_ResultsAreTheSameForEveryNumberOfPacks) {
  for (const auto& [title, make] : every_ops) {
    SCOPED_TRACE(title);
    MirroredStrategy strategy = mirrored(replicas(), make());
    using Floats = std::vector<float>;
    const auto of_three_and_four = [](int replica) {
      const auto mine = static_cast<float>(replica + 1);
      return std::tuple(Floats(3, mine), Floats{10 * mine, 20 * mine, 30 * mine, 40 * mine});
    };
    const auto ten_numbers = [](int replica) {
      return list_of(10, [&](int i) { return Floats{static_cast<float>(i * replica)}; });
    };
    const auto n = static_cast<float>(replicas() + sum_of_ids());
    for (const std::size_t bytes : {0U, 1U, 4U, 12U, 16U, 28U, 1000U}) {  // as many as wanted, 7 or 10, 2, 1
      SCOPED_TRACE(bytes);
      EXPECT_EQ(in_packs(strategy, bytes, of_three_and_four),
                std::tuple(Floats(3, n), Floats{10 * n, 20 * n, 30 * n, 40 * n}));
      EXPECT_EQ(in_packs(strategy, bytes, ten_numbers),
                list_of(10, [](int i) { return Floats{static_cast<float>(i * sum_of_ids())}; }));
    }
  }
}

/// Numbers whose sum depends on the order they are added in, unless it is exact; between workers see Case206.
std::vector<float> numbers_of_every_size(int count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponents(-30, 30);
  return list_of(count, [&](int /*i*/) { return std::ldexp(exponents(random), static_cast<int>(exponents(random))); });
}

TEST_P(WithReplicas, Case55_ReproducibleSumsHaveTheSameBitsInAnyOrderOfTheReplicas) {
  for (const auto& [title, make] : every_ops) {
    SCOPED_TRACE(title);
    std::vector<float> numbers = numbers_of_every_size(replicas());
    MirroredStrategy strategy = mirrored(replicas(), make(), {.reproducible = true});
    std::vector<float> seen;
    for (int turn = 0; turn < replicas(); ++turn) {
      std::rotate(numbers.begin(), numbers.begin() + 1, numbers.end());
      const auto mine = per_replica<float>(strategy, numbers);
      const auto inside =
          strategy.run([](float value) { return get_replica_context()->all_reduce(ReduceOp::sum, value); }, mine);
      EXPECT_THAT(inside.values(), Each(inside[0]));
      EXPECT_EQ(strategy.reduce(ReduceOp::sum, mine), inside[0]);
      seen.push_back(inside[0]);
    }
    EXPECT_THAT(seen, Each(seen[0]));
  }
}

TEST_P(WithReplicas, Case76_ReproducibleSumsHaveTheSameBitsInPacksOfEverySize) {
  MirroredStrategy strategy = mirrored(replicas(), nullptr, {.reproducible = true});
  const std::vector<float> numbers = numbers_of_every_size(13 * replicas());
  const auto part = [&](int replica) {
    return list_of(13, [&](int i) { return std::vector{numbers[static_cast<std::size_t>(13 * replica + i)]}; });
  };
  const auto sums = in_packs(strategy, 0, part);
  for (const std::size_t bytes : {1U, 12U, 20U, 1000U}) EXPECT_EQ(in_packs(strategy, bytes, part), sums) << bytes;
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

TEST_P(WithReplicas, ReproducibleSumsAndAveragesAreTheSameOnEveryReplica) {
  MirroredStrategy strategy = mirrored(replicas(), nullptr, {.reproducible = true});
  const auto thirds = strategy.run([] { return std::vector<float>(8, static_cast<float>(1 + id()) / 3); });
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
    const auto inside =
        strategy.run([op](const auto& mine) { return get_replica_context()->all_reduce(op, mine); }, thirds);
    EXPECT_THAT(inside.values(), Each(inside[0]));
    EXPECT_EQ(strategy.reduce(op, thirds), inside[0]);
  }
}

}  // namespace
}  // namespace chorus::test
