// SPDX-License-Identifier: Apache-2.0
#include "transport/shared_group.hpp"

#include "worlds/worlds.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

class SharedMemory : public testing::TestWithParam<WorldKind> {};

constexpr std::size_t slot = 256;

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

std::byte mark(int rank, int number) { return static_cast<std::byte>(rank * 50 + number % 50); }

/// Rounds in which the ranks see what all have written; `hasty` waits for nobody and sees nothing.
Task<> look_at_each_other(SharedGroup& memory, int rounds, int hasty = -1) {
  for (int number = 0; number < rounds; ++number) {
    const Round round = co_await memory.open(data_slots);
    *memory.payload(round) = mark(memory.rank(), number);
    std::memset(memory.slot(round, memory.rank()), static_cast<int>(mark(memory.rank(), number)), slot);
    memory.arrive(round);
    if (memory.rank() == hasty) continue;
    co_await memory.arrivals(round);
    for (int peer = 0; peer < memory.size(); ++peer) {
      const std::span<const std::byte> theirs(memory.slot(round, peer), slot);
      require(*memory.payload(round, peer) == mark(peer, number), "the payload of another round");
      require(std::ranges::count(theirs, mark(peer, number)) == std::ptrdiff_t{slot}, "the slot of another round");
    }
  }
}

TEST_P(SharedMemory, ShowsEveryRankWhatTheOthersWroteForTheRound) {
  const WorldOptions options{.kind = GetParam(), .ranks = 4, .slot_bytes = slot};
  on_every_rank(options, [](Transport& transport) { return look_at_each_other(*transport.shared(), 300); });
}

/// Rank 1 ends a call while rank 0 writes into its memory: it has all of it then, or nothing, and gets no more.
TEST(SharedGroup, IsNotWrittenToAfterItHasClosed) {
  constexpr std::size_t bytes = 1 << 20;
  const std::vector<std::byte> data(bytes, std::byte{1});
  int written_times = 0;
  for (int time = 0; time < 200; ++time) {
    const auto world = make_world({.kind = WorldKind::simulated, .ranks = 2, .slot_bytes = slot});
    SharedGroup& writer = *world->transport(0).shared();
    SharedGroup& reader = *world->transport(1).shared();
    std::vector<std::byte> place(bytes);
    std::atomic<bool> begins{false};
    std::thread thread([&] {
      begins.store(true);
      if (writer.write(1, place.data(), data)) ++written_times;
    });
    while (!begins.load()) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(time % 20));
    reader.close();
    const bool has_first = place.front() == std::byte{1};
    EXPECT_EQ(place.back() == std::byte{1}, has_first) << "half of it was there";
    place.assign(bytes, std::byte{2});
    thread.join();
    EXPECT_EQ(std::ranges::count(place, std::byte{2}), std::ptrdiff_t{bytes}) << "more came afterwards";
    EXPECT_FALSE(writer.write(1, place.data(), data));
  }
  EXPECT_GT(written_times, 0);
}

/// Rank 0 goes on as far as there are cells; the others see what it wrote.
Task<> take_cells_of_rank_0(SharedGroup& memory, int rounds) {
  constexpr std::size_t bytes = 600;
  for (int number = 0; number < rounds; ++number) {
    const Round round = co_await memory.open(short_cells.count);
    if (memory.rank() == 0) {
      std::memset(memory.cell(short_cells, round, 0), static_cast<int>(mark(0, number)), bytes);
      memory.note_cell(bytes);
    }
    memory.arrive(round);
    if (memory.rank() == 0) continue;
    co_await memory.arrival(round, 0);
    const std::span<const std::byte> theirs(memory.cell(short_cells, round, 0), bytes);
    require(std::ranges::count(theirs, mark(0, number)) == std::ptrdiff_t{bytes}, "the cell of another round");
  }
}

TEST_P(SharedMemory, KeepsTheCellsOfARankThatIsFarAhead) {
  const WorldOptions options{.kind = GetParam(), .ranks = 3, .slot_bytes = slot};
  on_every_rank(options, [](Transport& transport) { return take_cells_of_rank_0(*transport.shared(), 3000); });
}

TEST(SharedRegion, HasAPlaceForEachOfSuccessiveRoundsAndNotTheNextOne) {
  for (const int count : {line_slots, short_cells.count, long_cells.count}) {
    std::set<Round> places;
    for (Round round = 0; round < static_cast<Round>(count); ++round) {
      places.insert(place_of(round, count));
      EXPECT_NE(place_of(round + 1, count), (place_of(round, count) + 1) % static_cast<Round>(count));
      EXPECT_EQ(place_of(round + static_cast<Round>(count), count), place_of(round, count));
    }
    EXPECT_EQ(places.size(), static_cast<std::size_t>(count));
  }
}

TEST_P(SharedMemory, OutlivesTheNumbersOfItsRounds) {
  constexpr Round numbers = Round{1} << 24U;  // then they begin again
  const auto world = make_world({.kind = GetParam(), .ranks = 2, .slot_bytes = slot});
  for (Round last = 0; last < numbers - 100;) {
    for (const int rank : {0, 1}) {
      SharedGroup& memory = *world->transport(rank).shared();
      last = memory.open_now(line_slots);
      memory.arrive(last);
    }
  }
  EXPECT_NO_THROW(
      world->run([](Transport& transport) { return look_at_each_other(*transport.shared(), 200, /*hasty=*/0); }));
}

TEST(SharedGroup, FindsWhatLiesWhollyInAPeersWindow) {
  struct Alone final : Waiter {
    Alone() : Waiter(WaitPolicy::of(1, 1)) {}
    void idle(Wait& /*wait*/, Bell* /*bell*/) override {}
  } waiter;
  struct alignas(4096) Region {
    std::byte bytes[region_bytes(slot)];
  };
  const auto regions = std::make_unique<Region[]>(2);
  const std::byte window[100] = {};
  constexpr std::uint64_t there = 0x7000'0000'0000;
  SharedGroup group({.rank = 0,
                     .regions = {regions[0].bytes, regions[1].bytes},
                     .communicator_ranks = {0, 1},
                     .slot_bytes = slot,
                     .processes = {},
                     .windows = {{}, {there, window, sizeof window}}},
                    waiter);
  const auto at = [](std::uint64_t address) { return reinterpret_cast<const std::byte*>(address); };
  EXPECT_EQ(group.find(1, at(there), 100), window);
  EXPECT_EQ(group.find(1, at(there + 99), 1), window + 99);
  EXPECT_EQ(group.find(1, at(there + 1), 100), nullptr);
  EXPECT_EQ(group.find(1, at(there + 1), ~std::size_t{0}), nullptr);
  EXPECT_EQ(group.find(1, at(there + 100), 0), nullptr);
  EXPECT_EQ(group.find(1, at(there - 1), 1), nullptr);
  EXPECT_EQ(group.find(1, nullptr, 1), nullptr);
  EXPECT_EQ(group.find(0, at(there), 1), nullptr) << "of another peer";
  std::byte copy{7};
  ASSERT_TRUE(group.read(1, &copy, at(there + 50), 1));
  EXPECT_EQ(copy, window[50]);
}

TEST(SharedGroup, IsNotLeftByAForkedChild) {
  struct Alone final : Waiter {
    Alone() : Waiter(WaitPolicy::of(1, 1)) {}
    void idle(Wait& /*wait*/, Bell* /*bell*/) override {}
  } waiter;
  constexpr std::size_t bytes = region_bytes(slot);
  void* const region = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(region, MAP_FAILED);
  SharedGroup::Members members;
  members.regions = {static_cast<std::byte*>(region)};
  members.communicator_ranks = {0};
  members.slot_bytes = slot;
  auto group = std::make_unique<SharedGroup>(std::move(members), waiter);
  const auto& left = reinterpret_cast<const ControlPage*>(region)->left;
  const pid_t child = fork();
  if (child == 0) {
    group.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(left.load(), 0U);
  group.reset();
  EXPECT_EQ(left.load(), 1U);
  munmap(region, bytes);
}

TEST_P(SharedMemory, LetsARankWaitForOnePeerOnly) {
  const WorldOptions options{.kind = GetParam(), .ranks = 3, .slot_bytes = slot};
  std::atomic<bool> told{false};
  on_every_rank(options, [&told](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    const Round round = co_await memory.open(line_slots);
    // Rank 2 arrives only after rank 0 has seen rank 1.
    while (transport.rank() == 2 && !told) co_await transport.sendrecv({}, 2, {}, 2);
    memory.arrive(round);
    if (transport.rank() == 0) {
      co_await memory.arrival(round, 1);
      told = true;
    }
  });
  EXPECT_TRUE(told);
}

TEST_P(SharedMemory, FindsThatRanksMakeDifferentCalls) {
  const WorldOptions options{.kind = GetParam(), .ranks = 3, .slot_bytes = slot};
  const auto body = [](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    memory.begin({.collective = Collective::allreduce, .count = transport.rank() == 1 ? 8U : 9U});
    const Round round = co_await memory.open(line_slots);
    memory.arrive(round);
    try {
      co_await memory.arrivals(round);
    } catch (const MismatchFound&) {
      co_return;
    }
    throw std::logic_error("a rank has not noticed");
  };
  EXPECT_NO_THROW(on_every_rank(options, body));
}

TEST_P(SharedMemory, KeepsTheLastCallsForReports) {
  constexpr std::size_t calls = call_records + 36;
  const auto world = make_world({.kind = GetParam(), .ranks = 2, .slot_bytes = slot});
  world->run([](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    for (std::size_t count = 1; count <= calls; ++count) {
      memory.begin({Collective::reduce, DataType::float64, ReduceOp::max, 1, count, 3, Repeatability::reproducible});
    }
    co_return;
  });
  const SharedGroup& memory = *world->transport(0).shared();
  const auto last = memory.recorded(1);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->number, calls);
  EXPECT_EQ(last->call,
            (Call{Collective::reduce, DataType::float64, ReduceOp::max, 1, calls, 3, Repeatability::reproducible}));
  ASSERT_TRUE(memory.recorded(1, calls - call_records + 1));
  EXPECT_EQ(memory.recorded(1, calls - call_records + 1)->call.count, calls - call_records + 1);
  EXPECT_FALSE(memory.recorded(1, calls - call_records));
  EXPECT_FALSE(memory.recorded(1, calls + 1));
}

TEST_P(SharedMemory, TellsTheOthersOfAFailure) {
  const auto world = make_world({.kind = GetParam(), .ranks = 3, .slot_bytes = slot});
  world->transport(1).shared()->publish_failure(4, std::string(3000, 'x'));
  world->transport(1).shared()->publish_failure(5, "only the first counts");
  EXPECT_FALSE(world->transport(1).shared()->failure_of_others());
  const auto failure = world->transport(2).shared()->failure_of_others();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 1);
  EXPECT_EQ(failure->code, 4);
  EXPECT_EQ(failure->text, std::string(3000, 'x'));
}

TEST_P(SharedMemory, TellsOfAFailureInALaterCallWhereTheCallsBeforeItDiffer) {
  const auto world = make_world({.kind = GetParam(), .ranks = 3, .slot_bytes = slot});
  world->run([](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    const auto begin = [&](Collective collective) { memory.begin({.collective = collective}); };
    begin(Collective::barrier);
    begin(transport.rank() == 2 ? Collective::scatter : Collective::bcast);
    if (transport.rank() == 0) begin(Collective::barrier);
    co_return;
  });
  world->transport(0).shared()->publish_failure(4, "in the third call");
  EXPECT_FALSE(world->transport(1).shared()->failure_of_others()) << "it has done its part of both calls";
  EXPECT_TRUE(world->transport(2).shared()->failure_of_others()) << "which scatters where it made a bcast";
}

TEST_P(SharedMemory, TellsTheOthersTheBeginningAndTheEndOfALongFailure) {
  const auto world = make_world({.kind = GetParam(), .ranks = 2, .slot_bytes = slot});
  world->transport(1).shared()->publish_failure(4, "what " + std::string(10000, 'x') + " remedy");
  const auto failure = world->transport(0).shared()->failure_of_others();
  ASSERT_TRUE(failure);
  EXPECT_TRUE(failure->text.starts_with("what xx"));
  EXPECT_NE(failure->text.find("xx...xx"), std::string::npos);
  EXPECT_TRUE(failure->text.ends_with("xx remedy"));
  EXPECT_EQ(failure->text.size(), failure_text_bytes - 1);
}

TEST(SharedMemoryNow, ServesCallsThatAreNoCoroutine) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 4, .slot_bytes = slot}, [](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    for (int number = 0; number < 300; ++number) {
      const Round round = memory.open_now(line_slots);
      *memory.payload(round) = mark(memory.rank(), number);
      memory.arrive(round);
      memory.wait_for_all(round);
      for (int peer = 0; peer < memory.size(); ++peer) {
        require(*memory.payload(round, peer) == mark(peer, number), "the payload of another round");
      }
    }
    co_return;
  });
}

INSTANTIATE_TEST_SUITE_P(Every, SharedMemory, testing::Values(WorldKind::simulated, WorldKind::threads),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace chorus::test
