// SPDX-License-Identifier: Apache-2.0
// Each CrossDeviceOps given to a strategy of several workers: all reduce to the same, whatever the way.
#include "core/every_collective.hpp"
#include "multi_worker/multi_worker.hpp"

#include <chorus/float16.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/overlapped_all_reduce.hpp>
#include <chorus/strategies/variable.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using Values = std::vector<double>;

/// How a strategy reduces, and how many replicas each worker has.
struct OpsCase {
  const char* name;
  std::unique_ptr<CrossDeviceOps> (*make)();
  int local_replicas;
};
void PrintTo(const OpsCase& given, std::ostream* out) { *out << given.name << ", " << given.local_replicas; }

template <class Ops>
std::unique_ptr<CrossDeviceOps> made() {
  return std::make_unique<Ops>();
}

class MultiWorkerOps : public testing::TestWithParam<OpsCase> {
 protected:
  [[nodiscard]] static MultiWorkerMirroredStrategy strategy(const CommunicationOptions& options = {}) {
    MultiWorkerMirroredStrategy::Setup setup;
    setup.devices = some_devices(GetParam().local_replicas);
    setup.communication_options = options;
    setup.cross_device_ops = GetParam().make();
    return {Communicator::world(), std::move(setup)};
  }
  [[nodiscard]] static int replicas() { return GetParam().local_replicas * job_size(); }
  [[nodiscard]] static int sum_of_ids() { return replicas() * (replicas() - 1) / 2; }
};
INSTANTIATE_TEST_SUITE_P(Every, MultiWorkerOps,
                         testing::Values(OpsCase{"collective", made<CollectiveAllReduce>, 1},
                                         OpsCase{"collective", made<CollectiveAllReduce>, 3},
                                         OpsCase{"one device", made<ReductionToOneDevice>, 1},
                                         OpsCase{"one device", made<ReductionToOneDevice>, 2},
                                         OpsCase{"hierarchical", made<HierarchicalCopyAllReduce>, 1},
                                         OpsCase{"hierarchical", made<HierarchicalCopyAllReduce>, 2},
                                         OpsCase{"hierarchical", made<HierarchicalCopyAllReduce>, 3}));

/// Element i of what a replica has: whole numbers, of which every one of few replicas is the largest somewhere, and
/// whose averages over any of the numbers of workers and replicas are whole, too.
double value_of(int replica, std::size_t i) {
  return 72 * (static_cast<double>((static_cast<std::size_t>(replica) * 7 + i * 5) % 23) - 11);
}

Values values_of(int replica, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(replica, i);
  return values;
}

/// The replicas' values joined one after the other.
Values joined(ReduceOp op, int replicas, std::size_t count) {
  Values result = values_of(0, count);
  for (int replica = 1; replica < replicas; ++replica) {
    for (std::size_t i = 0; i < count; ++i) {
      const double other = value_of(replica, i);
      if (op == ReduceOp::min)
        result[i] = std::min(result[i], other);
      else if (op == ReduceOp::max)
        result[i] = std::max(result[i], other);
      else
        result[i] += other;
    }
  }
  if (op == ReduceOp::average) {
    for (double& each : result) each /= replicas;
  }
  return result;
}

/// The average of `value(replica)` inside of the replicas and outside.
template <class T>
void expect_average(MultiWorkerMirroredStrategy& several, const std::function<T(int)>& value, float expected) {
  const auto own = several.run([&] { return std::vector<T>(5000, value(id())); });
  const auto inside =
      several.run([](const auto& mine) { return get_replica_context()->all_reduce(ReduceOp::average, mine); }, own);
  for (const auto& each : inside.values()) EXPECT_THAT(each, Each(expected));
  EXPECT_THAT(several.reduce(ReduceOp::average, own), Each(expected));
}

TEST_P(MultiWorkerOps, AveragesOfLargeShortNumbersAreFinite) {
  for (const bool reproducible : {false, true}) {
    MultiWorkerMirroredStrategy several = strategy({.reproducible = reproducible});
    const auto large = [](int /*replica*/) { return float16_t(60000.0F); };
    expect_average<float16_t>(several, large, static_cast<float>(float16_t(60000.0F)));
    expect_average<bfloat16_t>(
        several, [](int) { return bfloat16_t(768.0F); }, 768.0F);
  }
}

TEST_P(MultiWorkerOps, ShortNumbersOfAWorkerAreRoundedOnce) {
  if (job_size() > 1) GTEST_SKIP() << "between workers they are rounded, too";
  MultiWorkerMirroredStrategy several = strategy();
  const auto value = [](int replica) { return bfloat16_t(replica == 0 ? 256.0F : 1.0F); };  // 256 + 1 rounds to 256
  const auto own = several.run([&] { return value(id()); });
  const float sum = 256.0F + static_cast<float>(replicas() - 1);
  EXPECT_EQ(static_cast<float>(several.reduce(ReduceOp::sum, own)), static_cast<float>(bfloat16_t(sum)));
}

TEST_P(MultiWorkerOps, Case74_ReduceToTheSameInAndOutsideOfTheReplicas) {
  for (const CommunicationOptions& options :
       {CommunicationOptions{}, CommunicationOptions{.bytes_per_pack = 64}, CommunicationOptions{.reproducible = true},
        CommunicationOptions{.implementation = CommunicationImplementation::ring},
        CommunicationOptions{.implementation = CommunicationImplementation::mpi},
        CommunicationOptions{.bytes_per_pack = 64, .implementation = CommunicationImplementation::mpi},
        CommunicationOptions{.implementation = CommunicationImplementation::mpi, .reproducible = true}}) {
    MultiWorkerMirroredStrategy several = strategy(options);
    for (const std::size_t count : {0U, 1U, 7U, 3001U}) {
      const auto values = several.run([&] { return values_of(id(), count); });
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average, ReduceOp::min, ReduceOp::max}) {
        const Values expected = joined(op, replicas(), count);
        EXPECT_EQ(several.reduce(op, values), expected) << name(op);
        const auto inside =
            several.run([op](const Values& mine) { return get_replica_context()->all_reduce(op, mine); }, values);
        EXPECT_THAT(inside.values(), Each(expected)) << name(op);
      }
    }
  }
}

TEST_P(MultiWorkerOps, SeveralTensorsOfSeveralTypesAtATime) {
  MultiWorkerMirroredStrategy several = strategy({.bytes_per_pack = 100});
  using Part = std::tuple<std::vector<float>, std::int64_t, Values>;
  const auto part = [](int first) {
    return [first] {
      return Part{std::vector<float>(20, static_cast<float>(first + id())), first * id(), values_of(id(), 33)};
    };
  };
  const auto sums = several.extended().batch_reduce_to(
      ReduceOp::sum, std::vector{several.run(part(0)), several.run(part(10)), several.run(part(20))});
  ASSERT_EQ(sums.size(), 3U);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const int first = 10 * static_cast<int>(i);
    for (const auto& [floats, number, doubles] : sums[i].values()) {
      EXPECT_THAT(floats, Each(static_cast<float>(first * replicas() + sum_of_ids())));
      EXPECT_EQ(number, first * sum_of_ids());
      EXPECT_EQ(doubles, joined(ReduceOp::sum, replicas(), 33));
    }
  }
}

TEST_P(MultiWorkerOps, Case209_NoElementsAndSmallTypesInEveryCollective) {
  for (const auto implementation : {CommunicationImplementation::automatic, CommunicationImplementation::mpi}) {
    MultiWorkerMirroredStrategy several = strategy({.implementation = implementation});
    expect_every_collective_of_small_types(several);
    expect_every_collective_of_bool(several);
  }
}

/// The sum of each type that there is, of 1 from every replica.
template <class... Types>
void expect_sums_of_ones(MultiWorkerMirroredStrategy& several, const CommunicationOptions& options) {
  const auto sums = several.run([&] {
    return get_replica_context()->all_reduce(ReduceOp::sum, std::tuple(std::vector<Types>(70, Types(1))...), options);
  });
  const auto replicas = static_cast<float>(several.num_replicas_in_sync());
  for (const auto& all : sums.values()) EXPECT_EQ(all, std::tuple(std::vector<Types>(70, Types(replicas))...));
}

TEST_P(MultiWorkerOps, MpiCarriesEveryTypeWhereOneCallAsksForIt) {
  MultiWorkerMirroredStrategy several = strategy();
  for (int run = 0; run < 4; ++run) {  // on each of the workers' communicators
    expect_sums_of_ones<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                        std::uint32_t, std::uint64_t, float16_t, bfloat16_t, float, double, long double,
                        std::complex<float>, std::complex<double>>(
        several, {.implementation = CommunicationImplementation::mpi});
  }
  expect_works(several);
}

TEST_P(MultiWorkerOps, AReplicaThatThrowsWhileMpiReducesEndsTheReductionOfAll) {
  const CommunicationOptions by_mpi{.bytes_per_pack = 64, .implementation = CommunicationImplementation::mpi};
  MultiWorkerMirroredStrategy several = strategy(by_mpi);
  const auto reduces = [&](bool one_throws) {
    return [&, one_throws] {
      std::pair both(Values(100, 1), Values(100, 2));
      OverlappedAllReduce reduced(ReduceOp::sum, both);
      reduced.ready(both.second);
      if (one_throws && id() == replicas() - 1) throw std::runtime_error("no gradient here");
      reduced.ready(both.first);
      reduced.wait();
      EXPECT_THAT(both.first, Each(replicas()));
      EXPECT_THAT(both.second, Each(2 * replicas()));
    };
  };
  for (int round = 0; round < 5; ++round) {
    EXPECT_THAT(thrown_text([&] { several.run(reduces(true)); }), HasSubstr("no gradient here"));
    several.run(reduces(false));
  }
}

void expect_right_variables_and_gradients(MultiWorkerMirroredStrategy& several) {
  const int replicas = several.num_replicas_in_sync();
  const auto scope = several.scope();
  const Variable<Values> v(Values(5), {.name = "v", .aggregation = VariableAggregation::sum});
  several.run([&] { v.assign(values_of(id(), 5)); });
  EXPECT_THAT(v.components(), Each(joined(ReduceOp::sum, replicas, 5)));
  const Variable<Values> trained(Values(5), {.name = "trained"});
  Sgd optimizer{std::tuple(trained), {.learning_rate = 0.5}};
  several.run([&] { optimizer.apply_gradients({values_of(id(), 5)}); });
  for (const Values& each : trained.components()) {
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(each[i], -0.5 * joined(ReduceOp::sum, replicas, 5)[i]);
  }
  const auto overlapped = several.run([] {
    std::tuple both(values_of(id(), 100), values_of(id(), 9));
    OverlappedAllReduce reduced(ReduceOp::max, both);
    reduced.ready(std::get<1>(both));
    reduced.wait();
    return both;
  });
  for (const auto& [first, second] : overlapped.values()) {
    EXPECT_EQ(first, joined(ReduceOp::max, replicas, 100));
    EXPECT_EQ(second, joined(ReduceOp::max, replicas, 9));
  }
}

TEST_P(MultiWorkerOps, WhatComesFromThemIsRight) {
  for (const auto implementation : {CommunicationImplementation::automatic, CommunicationImplementation::mpi}) {
    MultiWorkerMirroredStrategy several = strategy({.implementation = implementation});
    expect_right_variables_and_gradients(several);
  }
}

TEST_P(MultiWorkerOps, Case206_ReproducibleSumsHaveTheBitsOfEveryOtherWay) {
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  MirroredStrategy alone = mirrored(replicas(), nullptr, {.reproducible = true});
  const auto expect_equal = [&](const auto& number) {
    const auto expected = alone.reduce(ReduceOp::sum, alone.run([&] { return number(id()); }));
    EXPECT_EQ(several.reduce(ReduceOp::sum, several.run([&] { return number(id()); })), expected);
    const auto inside = several.run([&] { return get_replica_context()->all_reduce(ReduceOp::sum, number(id())); });
    EXPECT_THAT(inside.values(), Each(expected));
  };
  const auto number = [](int replica) {
    return std::ldexp(1.0F / static_cast<float>(3 + replica), 17 * (replica % 3));
  };
  expect_equal(number);
  const std::vector cancelling{1.0, 1e20, -1e20};
  const auto part = [&](int replica) { return cancelling[static_cast<std::size_t>(replica) % cancelling.size()]; };
  expect_equal([&](int replica) { return std::complex<float>(std::complex(part(replica), -part(replica + 1))); });
  expect_equal([&](int replica) { return std::complex(part(replica), part(replica + 2)); });
}

TEST_P(MultiWorkerOps, AReplicaThatThrowsEndsTheReductionOfAll) {
  MultiWorkerMirroredStrategy several = strategy();
  for (int round = 0; round < 3; ++round) {
    const auto one_throws = [&] {
      if (id() == round % replicas()) throw std::runtime_error("no gradient here");
      std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1.0);
    };
    EXPECT_THAT(thrown_text([&] { several.run(one_throws); }), HasSubstr("no gradient here"));
    expect_works(several);
  }
}

TEST_P(MultiWorkerOps, Case82_AWorkerThatNeverCallsIsNamedWithItsLastCallAfterTheTimeout) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  constexpr std::chrono::milliseconds limit(200);
  MultiWorkerMirroredStrategy several = strategy({.timeout = limit});
  const auto values = several.run([] { return 1.0; });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(several.reduce(ReduceOp::sum, values), replicas()) << "sets all up";
  MPI_Barrier(MPI_COMM_WORLD);
  if (job_rank() == job_size() - 1) {
    MPI_Barrier(MPI_COMM_WORLD);  // when the others have given up
  } else {
    const Outcome outcome = outcome_of([&] { std::ignore = several.reduce(ReduceOp::sum, values); });
    MPI_Barrier(MPI_COMM_WORLD);
    ASSERT_TRUE(outcome.code) << "nothing was thrown";
    EXPECT_THAT(outcome.text, HasSubstr("has waited 0.2"));
    EXPECT_THAT(outcome.text, testing::ContainsRegex("not arrived: .*rank " + std::to_string(job_size() - 1) +
                                                     " .*last call: #[0-9]+ Strategy::reduce by sum"));
  }
}

}  // namespace
}  // namespace chorus::test
