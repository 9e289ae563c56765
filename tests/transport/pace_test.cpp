// SPDX-License-Identifier: Apache-2.0
#include "transport/pace.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "choose.hpp"
#include "link_model.hpp"
#include "transport/shared_group.hpp"
#include "worlds/worlds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

bool sensible(double megabytes_per_second) { return std::isfinite(megabytes_per_second) && megabytes_per_second > 0; }

TEST(MeasuredPace, IsThatOfBothWaysOfWriting) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 1, .slot_bytes = 4096}, [](Transport& transport) -> Task<> {
    const Pace pace = co_await measure_pace(*transport.shared());
    if (!sensible(pace.cached) || !sensible(pace.streamed) || !sensible(pace.system) || !sensible(pace.system_long) ||
        !sensible(pace.system_us))
      throw std::logic_error("no pace was measured");
  });
}

TEST(MeasuredPace, OfOneRankAloneIsThatOfTheFirstOfSeveral) {
  for (const int ranks : {2, 3}) {
    const WorldOptions world{.kind = WorldKind::threads, .ranks = ranks, .slot_bytes = 4096};
    on_every_rank(world, [](Transport& transport) -> Task<> {
      SharedGroup& memory = *transport.shared();
      const Pace pace = co_await measure_pace(memory);
      const bool measures = memory.size() > 2 && memory.rank() == 0 && pace.known();
      if (measures ? !sensible(pace.alone) : pace.alone != 0) throw std::logic_error("another rank's pace");
    });
  }
  const LinkModel measured = LinkModel::of({.cached = 5, .streamed = 10, .alone = 30});
  EXPECT_EQ(measured.shared_alone_megabytes_per_second, 30);
  EXPECT_EQ(LinkModel::of({.cached = 5, .streamed = 10}).shared_alone_megabytes_per_second, 10) << "as all";
}

// Two of a hundred ranks are always found on one core.
TEST(MeasuredPace, IsUnknownWhereRanksShareACore) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 100, .slot_bytes = 128}, [](Transport& transport) -> Task<> {
    const Pace pace = co_await measure_pace(*transport.shared());
    if (pace.known() && std::thread::hardware_concurrency() < 100) throw std::logic_error("it cannot be known");
  });
}

TEST(MeasuredPace, LastsForSomeData) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 1, .slot_bytes = 4096}, [](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    const Call much{.collective = Collective::bcast, .count = std::size_t{1} << 40U};
    memory.begin(much);
    if (memory.is_pace_old()) throw std::logic_error("nothing was measured");
    memory.set_pace(co_await measure_pace(memory));
    if (memory.is_pace_old()) throw std::logic_error("it is new");
    memory.begin(much);
    if (!memory.is_pace_old()) throw std::logic_error("it is old");
    co_await renew_pace(memory);
    if (memory.is_pace_old()) throw std::logic_error("it is new again");
  });
}

/// No store is as fast as the pace that was told here.
class SlowWrites : public testing::TestWithParam<Collective> {};

TEST_P(SlowWrites, RenewThePace) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 2, .slot_bytes = 65536}, [](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    const std::vector<std::byte> data(65536);
    const Call call{.collective = GetParam(), .root = 1, .count = counts_differ(GetParam()) ? 0 : data.size()};
    memory.set_pace({.cached = 2e9, .streamed = 1e9});
    int renewals = 0;
    for (int calls = 0; calls < 620; ++calls) {
      memory.begin(call);
      if (memory.is_pace_old()) {
        ++renewals;
        memory.set_pace({.cached = 2e9, .streamed = 1e9});
      }
      const Round round = co_await memory.open(data_slots);
      if (memory.rank() == 1) memory.put(memory.slot(round, 1), data.data(), data.size());
      memory.arrive(round);
    }
    if (renewals != 2) throw std::logic_error("renewed another number of times");
  });
}

INSTANTIATE_TEST_SUITE_P(MeasuredPace, SlowWrites, testing::Values(Collective::bcast, Collective::alltoallv),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(MeasuredPace, IsNotDoubtedWhereRanksShareCores) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 2, .slot_bytes = 65536}, [](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    const std::vector<std::byte> data(65536);
    memory.set_pace({.cached = 2e9, .streamed = 1e9, .round_us = 1});
    for (int calls = 0; calls < 620; ++calls) {
      memory.begin({.collective = Collective::bcast, .count = data.size()});
      if (memory.is_pace_old()) throw std::logic_error("others may have had the core");
      const Round round = co_await memory.open(data_slots);
      memory.put(memory.slot(round, memory.rank()), data.data(), data.size());
      memory.arrive(round);
    }
  });
}

/// Every call after much data measures first, whether it runs as a coroutine or not.
TEST(MeasuredPace, IsRenewedByTheCallsThemselves) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 2, .slot_bytes = 4096}, [](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    memory.set_pace({.cached = 1, .streamed = 2});
    for (const std::size_t count : {std::size_t{8}, std::size_t{1000}}) {
      const Call call{.collective = Collective::allreduce, .type = DataType::int32, .count = count};
      const Problem problem = problem_of(call, transport);
      memory.begin({.collective = Collective::bcast, .count = std::size_t{1} << 40U});
      std::vector<int> ones(count, 1);
      auto* const data = reinterpret_cast<std::byte*>(ones.data());
      co_await carry_out(fastest(problem, {}), transport, {.call = call, .in = data, .out = data});
      if (memory.is_pace_old()) throw std::logic_error("it was not renewed");
      if (ones != std::vector<int>(count, 2)) throw std::logic_error("another result");
    }
  });
}

TEST(MeasuredPace, IsNotRenewedByARankAlone) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 1, .slot_bytes = 4096}, [](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    const Pace told = {.cached = 1, .streamed = 2};
    memory.set_pace(told);
    memory.begin({.collective = Collective::bcast, .count = std::size_t{1} << 40U});
    const Call call{.collective = Collective::allreduce, .type = DataType::int32, .count = 8};
    std::vector<int> ones(call.count, 1);
    auto* const data = reinterpret_cast<std::byte*>(ones.data());
    co_await carry_out(fastest(problem_of(call, transport), {}), transport, {.call = call, .in = data, .out = data});
    begin_now(fastest(problem_of(call, transport), {}), transport, call);
    if (memory.pace() != told) throw std::logic_error("it has measured how it copies for itself");
  });
}

TEST(MeasuredPace, IsRememberedOfCrowdedRanksAndOfOthers) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 2}, [](Transport& transport) -> Task<> {
    const std::vector<KnownPaces> told = {{}, {.apart = {.cached = 1, .streamed = 2}, .crowded = {.round_us = 3}}};
    const Pace crowded = co_await agree_on_pace(transport, nullptr, true, told);
    const Pace apart = co_await agree_on_pace(transport, nullptr, false, told);
    if (crowded != told[1].crowded || apart != told[1].apart) throw std::logic_error("took another pace than the told");
  });
  const KnownPaces remembered = remembered_paces();
  EXPECT_EQ(remembered.of(true), (Pace{.round_us = 3}));
  EXPECT_EQ(remembered.of(false), (Pace{.cached = 1, .streamed = 2}));
}

TEST(MeasuredPace, OfCrowdedRanksIsOfRoundsAndOfTheSystem) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 2, .slot_bytes = 4096}, [](Transport& transport) -> Task<> {
    const Pace pace = co_await measure_crowded_pace(*transport.shared());
    if (pace.known() || !pace.measured(true) || pace.measured(false)) throw std::logic_error("measured another thing");
    if (!sensible(pace.cached) || !sensible(pace.streamed)) throw std::logic_error("no way of writing was measured");
    if (!sensible(pace.round_us) || !sensible(pace.system) || !sensible(pace.system_long) || !sensible(pace.system_us))
      throw std::logic_error("no pace was measured");
  });
  const Pace pace{.system = 30, .system_long = 15, .system_us = 0.5, .round_us = 0.7};
  const LinkModel crowded = LinkModel::of(pace, true);
  EXPECT_EQ(crowded.shared_peer_us, 0.7);
  EXPECT_EQ(crowded.read, (Link{.latency_us = 0.5, .megabytes_per_second = 30}));
  EXPECT_EQ(crowded.long_read_megabytes_per_second, 15);
  const Problem two{.call = {}, .ranks = 2, .largest_node = 2, .smallest_node = 2};
  const Traffic of_one{.shared = {}, .messages = {}, .read = {.messages = 2, .bytes = 60}, .one_reads = true};
  Traffic of_all = of_one;
  of_all.one_reads = false;
  EXPECT_EQ(crowded.microseconds(of_one, two), 3);
  EXPECT_EQ(crowded.microseconds(of_all, two), 3.75) << "they disturb each other by a quarter";
  EXPECT_EQ(LinkModel::of(pace).shared_peer_us, LinkModel().shared_peer_us);  // it holds for crowded ranks alone
}

TEST(MeasuredPace, OfCrowdedRanksTellsHowTheyWrite) {
  EXPECT_EQ(Pace().way(), kernels::Store::streamed) << "nothing was measured";
  const Pace plain{.cached = 2, .streamed = 1, .round_us = 0.7};
  const Pace streamed{.cached = 1, .streamed = 2, .round_us = 0.7};
  EXPECT_EQ(plain.way(), kernels::Store::cached);
  EXPECT_EQ(streamed.way(), kernels::Store::streamed);
  EXPECT_GT(LinkModel::of(plain, true).shared.megabytes_per_second,
            LinkModel::of(streamed, true).shared.megabytes_per_second)
      << "caches serve several ranks";
  EXPECT_EQ(LinkModel::of({.cached = 2, .streamed = 1}, true).shared, LinkModel::of({}, true).shared) << "of others";
  const auto us = [](const Pace& pace, double bytes) {
    return LinkModel::of(pace, true).microseconds({.shared = {.bytes = bytes}, .messages = {}, .arrivals = 1e-9}, {});
  };
  EXPECT_LT(us(plain, 1e5), us(streamed, 1e5));
  EXPECT_EQ(us(plain, 1e7), us(streamed, 1e7)) << "no cache holds it";
}

TEST(RanksThatShareCores, CountLessWaitingForThoseWhoWaitForNobody) {
  const LinkModel crowded = LinkModel::of({.round_us = 1}, true);
  Problem problem{.call = {.collective = Collective::gather, .type = DataType::uint8, .count = 4096},
                  .ranks = 4,
                  .largest_node = 4,
                  .smallest_node = 4};
  EXPECT_EQ(arrivals_of_givers(problem, 3), 12);
  problem.links = &crowded;
  EXPECT_EQ(arrivals_of_givers(problem, 3), 3);
}

// Each on its core, and each at its end of the machine: the ways of writing are compared by the slowest.
TEST(MeasuredPace, OfCrowdedRanksIsThatOfTheSlowest) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 3, .slot_bytes = 4096}, [](Transport& transport) -> Task<> {
    const std::vector<KnownPaces> told = {{.apart = {}, .crowded = {.cached = 9, .streamed = 4, .round_us = 1}},
                                          {.apart = {}, .crowded = {.cached = 2, .streamed = 5, .round_us = 2}},
                                          {}};
    const Pace pace = co_await agree_on_pace(transport, nullptr, true, told);
    if (pace.round_us != 1 || pace.cached != 2 || pace.streamed != 4) throw std::logic_error("another pace");
  });
}

TEST(MeasuredPace, IsDividedAmongThoseThatShareACore) {
  const Pace pace{.system = 30, .system_long = 15, .round_us = 0.7, .ranks_of_core = 4, .nodes_of_core = 2};
  const LinkModel shares = LinkModel::of(pace, true);
  const LinkModel has_cores = LinkModel::of({.system = 30, .system_long = 15, .round_us = 0.7}, true);
  EXPECT_EQ(shares.shared.megabytes_per_second, has_cores.shared.megabytes_per_second / 4) << "all ranks";
  EXPECT_EQ(shares.reduce_megabytes_per_second, has_cores.reduce_megabytes_per_second / 4);
  EXPECT_EQ(shares.shared_alone_megabytes_per_second, has_cores.shared_alone_megabytes_per_second / 2) << "one a node";
  EXPECT_EQ(shares.read.megabytes_per_second, has_cores.read.megabytes_per_second / 2);
  EXPECT_EQ(shares.long_read_megabytes_per_second, has_cores.long_read_megabytes_per_second / 2);
  EXPECT_EQ(shares.readers_of_a_core, has_cores.readers_of_a_core * 2) << "all of a node beside that";
  EXPECT_EQ(LinkModel::of(pace, false).shared, LinkModel().shared) << "each has cores of its own";
}

TEST(MeasuredPace, IsThatOfTheModel) {
  const LinkModel built_in;
  EXPECT_EQ(LinkModel::of({}).shared, built_in.shared);
  EXPECT_EQ(LinkModel::of({.cached = 5, .streamed = 10}).shared.megabytes_per_second, 10);
  EXPECT_EQ(LinkModel::of({.cached = 15, .streamed = 10}).shared.megabytes_per_second, 15);
}

TEST(MeasuredPace, OfTheSystemIsThatOfTheModel) {
  EXPECT_EQ(LinkModel::of({.cached = 15, .streamed = 10}).read, LinkModel().read);
  const LinkModel measured =
      LinkModel::of({.cached = 16, .streamed = 10, .system = 32, .system_long = 8, .system_us = 0.5});
  EXPECT_EQ(measured.read, (Link{.latency_us = 0.5, .megabytes_per_second = 32}));
  EXPECT_EQ(measured.long_read_megabytes_per_second, 8);
}

}  // namespace
}  // namespace chorus::test
