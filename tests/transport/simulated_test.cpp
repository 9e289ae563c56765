// SPDX-License-Identifier: Apache-2.0
#include "transport/simulated.hpp"

#include "base/bytes.hpp"
#include "transport/shared_group.hpp"

#include <chorus/error.hpp>

#include <gmock/gmock.h>

#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

Task<> ping(Transport& transport, std::size_t bytes, int rounds) {
  std::vector<std::byte> data(bytes);
  for (int round = 0; round < rounds; ++round) {
    if (transport.rank() == round % 2) co_await transport.send(data, 1 - transport.rank());
    if (transport.rank() != round % 2) co_await transport.receive(data, 1 - transport.rank());
  }
}

VirtualTime time_of(const SimulatedWorld::Options& options, std::size_t bytes, int rounds) {
  SimulatedWorld world(options);
  const auto report = world.run([&](Transport& transport) { return ping(transport, bytes, rounds); });
  report.check();
  return report.time;
}

TEST(Simulated, TakesTheTimeOfItsLinks) {
  // Without jitter: the first wake-up, the sender's overhead, the wire, the wake-up of the receiver.
  const SimulatedWorld::Options near{.ranks = 2, .jitter = 0};
  EXPECT_EQ(time_of(near, 1000, 1), 100ns + 100ns + 300ns + 100ns + 100ns);
  const SimulatedWorld::Options far{.ranks = 2, .nodes = {0, 1}, .jitter = 0};
  EXPECT_EQ(time_of(far, 1'000'000, 1), 100ns + 100ns + 1500ns + 80us + 100ns);
}

TEST(Simulated, GivesTheSameRunForTheSameSeed) {
  std::set<VirtualTime> times;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SimulatedWorld::Options options{.ranks = 2, .seed = seed};
    const VirtualTime time = time_of(options, 100, 10);
    EXPECT_EQ(time_of(options, 100, 10), time);
    times.insert(time);
  }
  EXPECT_EQ(times.size(), 10);
}

TEST(Simulated, LetsASlowRankTakeLonger) {
  const VirtualTime usual = time_of({.ranks = 2, .jitter = 0}, 8, 10);
  const VirtualTime slow = time_of({.ranks = 2, .jitter = 0, .slow = {{1, 11}}}, 8, 10);
  EXPECT_GE(slow - usual, 10 * 1us);  // it wakes up or sends in each of the ten rounds
  EXPECT_LE(slow - usual, 20 * 1us);
}

TEST(Simulated, LetsMessagesOfTwoRanksOvertakeEachOther) {
  std::set<int> first_arrivals;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimulatedWorld world({.ranks = 3, .seed = seed});
    int first = 0;
    const auto body = [&first](Transport& transport) -> Task<> {
      int value = 0;
      if (transport.rank() > 0) co_return co_await transport.send(bytes_of(value), 0);
      int other = 0;
      Exchange from_one = transport.receive(writable_bytes_of(value), 1);
      Exchange from_two = transport.receive(writable_bytes_of(other), 2);
      while (first == 0) {
        co_await transport.sendrecv({}, 0, {}, 0);  // lets time pass
        if (transport.test(from_one)) first = 1;
        if (transport.test(from_two) && first == 0) first = 2;
      }
      co_await from_one;
      co_await from_two;
    };
    world.run(body).check();
    first_arrivals.insert(first);
  }
  EXPECT_EQ(first_arrivals, (std::set<int>{1, 2}));
}

TEST(Simulated, LetsASendWaitForItsReceiverOrNot) {
  std::set<bool> deadlocks;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimulatedWorld world({.ranks = 2, .seed = seed});
    const auto report = world.run([](Transport& transport) -> Task<> {  // wrong: relies on buffering
      int value = 0;
      co_await transport.send(bytes_of(value), 1 - transport.rank());
      co_await transport.receive(writable_bytes_of(value), 1 - transport.rank());
    });
    deadlocks.insert(!report.deadlock.empty());
  }
  EXPECT_EQ(deadlocks, (std::set<bool>{false, true}));
}

TEST(Simulated, CountsWhatTheBusiestRankDoes) {
  SimulatedWorld world({.ranks = 3});
  const auto report = world.run([](Transport& transport) -> Task<> {
    std::array<std::byte, 100> data{};
    if (transport.rank() == 0) {
      co_await transport.send(data, 1);
      co_await transport.send(std::span(data).first(10), 2);
    } else {
      co_await transport.receive(std::span(data).first(transport.rank() == 1 ? 100 : 10), 0);
    }
  });
  report.check();
  EXPECT_EQ(report.busiest.messages, 2);
  EXPECT_EQ(report.busiest.bytes, 110);
}

TEST(Simulated, RunsAgain) {
  SimulatedWorld world({.ranks = 2});
  for (int run = 0; run < 3; ++run) {
    const auto report = world.run([](Transport& transport) { return ping(transport, 8, 3); });
    EXPECT_NO_THROW(report.check());
    EXPECT_EQ(report.busiest.messages, 3);
    EXPECT_LT(report.time, 10us);
  }
}

TEST(Simulated, FindsMessagesThatNobodyReceives) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedWorld world({.ranks = 2, .seed = seed});
    const auto report = world.run([](Transport& transport) -> Task<> {
      const int value = 0;
      if (transport.rank() == 0) co_await transport.send(bytes_of(value), 1);
    });
    EXPECT_NE(report.strays > 0, !report.deadlock.empty());  // the sender did not wait, or waits for ever
    EXPECT_THROW(report.check(), Error);
  }
}

TEST(Simulated, SaysWhereEveryRankWaitsAndWhoIsLost) {
  SimulatedWorld world({.ranks = 5, .lost = {{4, VirtualTime{}}}});
  const auto report = world.run([](Transport& transport) -> Task<> {
    int value = 0;
    if (transport.rank() == 3) throw std::runtime_error("no ink");
    co_await transport.receive(writable_bytes_of(value), (transport.rank() + 1) % 5);
  });
  EXPECT_THAT(report.deadlock, HasSubstr("nothing is left to happen at "));
  EXPECT_THAT(report.deadlock, HasSubstr("\n  rank 3: failed: no ink"));
  EXPECT_THAT(report.deadlock, HasSubstr("\n  rank 4: lost at 0 µs"));
  EXPECT_THAT(report.deadlock,
              HasSubstr("\n  ranks 0-2: receiving 4 bytes from rank ... at transport/simulated_test.cpp:"));
}

TEST(Simulated, WakesTheRanksOfANodeWhenItsMemoryChanges) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedWorld world({.ranks = 6, .seed = seed, .nodes = {0, 1, 0, 1, 0, 1}, .slow = {{3, 50}}});
    const auto body = [](Transport& transport) -> Task<> {
      SharedGroup& memory = *transport.node_memory();
      for (int number = 0; number < 40; ++number) {
        const Round round = co_await memory.open(line_slots);
        *memory.payload(round) = static_cast<std::byte>(transport.rank() + number);
        memory.arrive(round);
        co_await memory.arrivals(round);
        for (int peer = 0; peer < memory.size(); ++peer) {
          if (*memory.payload(round, peer) != static_cast<std::byte>(memory.communicator_rank(peer) + number)) {
            throw std::logic_error("another's payload");
          }
        }
      }
    };
    ASSERT_NO_THROW(world.run(body).check()) << "seed " << seed;
  }
}

TEST(Simulated, HasNoSharedMemoryWithoutSlots) {
  SimulatedWorld world({.ranks = 2, .slot_bytes = 0});
  EXPECT_EQ(world.transport(0).node_memory(), nullptr);
  EXPECT_EQ(world.transport(0).native(), nullptr);
}

TEST(Simulated, RefusesToBlock) {
  SimulatedWorld world({.ranks = 2});
  const auto report = world.run([](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    const Round round = memory.open_now(line_slots);
    memory.wait_for_all(round);
    co_return;
  });
  for (const auto& error : report.errors) EXPECT_THROW(std::rethrow_exception(error), Error);
}

TEST(Simulated, NeedsANodeForEveryRank) { EXPECT_THROW(SimulatedWorld({.ranks = 3, .nodes = {0, 0}}), Error); }

}  // namespace
}  // namespace chorus::test
