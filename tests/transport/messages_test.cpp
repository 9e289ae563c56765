// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "task/when_all.hpp"
#include "worlds/worlds.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

// What MPI promises of messages, in both worlds that have mailboxes.
namespace chorus::test {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

class Messages : public testing::TestWithParam<WorldKind> {
 protected:
  void run(int ranks, const World::Body& body) const {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      ASSERT_NO_THROW(on_every_rank({.kind = GetParam(), .ranks = ranks, .seed = seed}, body)) << "seed " << seed;
    }
  }
};

TEST_P(Messages, OfOneSourceArriveInOrder) {
  run(2, [](Transport& transport) -> Task<> {
    for (int number = 0; number < 50; ++number) {
      int value = number;
      if (transport.rank() == 0) co_await transport.send(bytes_of(value), 1);
      if (transport.rank() == 1) co_await transport.receive(writable_bytes_of(value), 0);
      require(value == number, "a message overtook another");
    }
  });
}

TEST_P(Messages, AreKnownByTheirSource) {
  run(5, [](Transport& transport) -> Task<> {
    int value = transport.rank();
    if (transport.rank() > 0) co_await transport.send(bytes_of(value), 0);
    if (transport.rank() > 0) co_return;
    for (int source = 4; source > 0; --source) {
      co_await transport.receive(writable_bytes_of(value), source);
      require(value == source, "a message of another rank");
    }
  });
}

TEST_P(Messages, AreKnownByTheirChannel) {
  run(2, [](Transport& transport) -> Task<> {
    const int peer = 1 - transport.rank();
    std::array<int, 3> out = {10, 11, 12};
    std::array<int, 3> in = {};
    const auto exchange = [](Transport& over, int& value, int& place, int other, int channel) -> Task<> {
      co_await over.start({.outgoing = bytes_of(value), .destination = other, .channel = channel});
      co_await over.start({.incoming = writable_bytes_of(place), .source = other, .channel = channel});
    };
    const auto receive = [](Transport& over, int& value, int& place, int other, int channel) -> Task<> {
      co_await over.start({.incoming = writable_bytes_of(place), .source = other, .channel = channel});
      co_await over.start({.outgoing = bytes_of(value), .destination = other, .channel = channel});
    };
    std::vector<Task<>> tasks;
    for (int number = 0; number < 3; ++number) {
      const int channel = peer == 0 ? 2 - number : number;  // the two ranks start them in opposite orders
      const auto index = static_cast<std::size_t>(channel);
      tasks.push_back(peer == 0 ? exchange(transport, out[index], in[index], peer, channel)
                                : receive(transport, out[index], in[index], peer, channel));
    }
    co_await when_all(tasks);
    require(in == out, "a message of another channel");
  });
}

TEST_P(Messages, CrossInASendrecv) {
  run(4, [](Transport& transport) -> Task<> {
    std::vector<int> out(3000);
    std::vector<int> in(3000);
    std::iota(out.begin(), out.end(), transport.rank() * 10000);
    const int next = (transport.rank() + 1) % 4;
    const int previous = (transport.rank() + 3) % 4;
    co_await transport.sendrecv(std::as_bytes(std::span(out)), next, std::as_writable_bytes(std::span(in)), previous);
    require(in.front() == previous * 10000 && in.back() == previous * 10000 + 2999, "another message");
  });
}

TEST_P(Messages, MayGoToTheSenderItself) {
  run(1, [](Transport& transport) -> Task<> {
    const int out = 42;
    int in = 0;
    co_await transport.sendrecv(bytes_of(out), 0, writable_bytes_of(in), 0);
    require(in == 42, "another message");
  });
}

TEST_P(Messages, OfNoBytesStillMakeTheReceiverWait) {
  run(2, [](Transport& transport) -> Task<> {
    if (transport.rank() == 0) co_await transport.send({}, 1);
    if (transport.rank() == 1) co_await transport.receive({}, 0);
  });
}

TEST_P(Messages, OfAnotherLengthAreAnError) {
  const auto body = [](Transport& transport) -> Task<> {
    const std::int64_t out = 1;
    std::int32_t in = 7;
    if (transport.rank() == 0) co_await transport.send(bytes_of(out), 1);
    if (transport.rank() == 1) co_await transport.receive(writable_bytes_of(in), 0);
  };
  try {
    on_every_rank({.kind = GetParam(), .ranks = 2}, body);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::mismatch);
    EXPECT_STREQ(error.what(),
                 "chorus: a message from rank 0 has 8 bytes where 4 were expected; the ranks disagree about the "
                 "counts of these two, or about the call, and then CHORUS_CHECK=collective says in what [mismatch]");
  }
}

TEST_P(Messages, GoBetweenTheRanksOfANodeAndBetweenLeaders) {
  const WorldOptions options{.kind = GetParam(), .ranks = 5, .nodes = {0, 1, 0, 1, 1}};
  on_every_rank(options, [](Transport& transport) -> Task<> {
    Transport& node = *transport.node();
    const std::vector<std::vector<int>> members = {{0, 2}, {1, 3, 4}};
    const auto& mine = members[static_cast<std::size_t>(transport.rank() % 2 == 1 || transport.rank() == 4)];
    require(node.size() == static_cast<int>(mine.size()), "the size of the node");
    require(mine[static_cast<std::size_t>(node.rank())] == transport.rank(), "the rank in the node");
    require((transport.leaders() != nullptr) == (transport.rank() < 2), "who leads");
    const int out = transport.rank();
    int in = 0;
    const int next = (node.rank() + 1) % node.size();
    const int previous = (node.rank() + node.size() - 1) % node.size();
    co_await node.sendrecv(bytes_of(out), next, writable_bytes_of(in), previous);
    require(in == mine[static_cast<std::size_t>(previous)], "a message within the node");
    if (transport.leaders() == nullptr) co_return;
    Transport& leaders = *transport.leaders();
    co_await leaders.sendrecv(bytes_of(out), 1 - leaders.rank(), writable_bytes_of(in), 1 - leaders.rank());
    require(in == 1 - transport.rank(), "a message between leaders");
  });
}

/// Nodes of three and two ranks: two lanes, and a rank that is in none.
TEST_P(Messages, GoAlongLanes) {
  const WorldOptions options{.kind = GetParam(), .ranks = 5, .nodes = {0, 1, 0, 1, 0}};
  on_every_rank(options, [](Transport& transport) -> Task<> {
    require((transport.lane() != nullptr) == (transport.rank() < 4), "who is in a lane");
    if (transport.lane() == nullptr) co_return;
    Transport& lane = *transport.lane();
    require(lane.size() == 2 && lane.rank() == transport.rank() % 2, "the place in the lane");
    const int out = transport.rank();
    int in = 0;
    co_await lane.sendrecv(bytes_of(out), 1 - lane.rank(), writable_bytes_of(in), 1 - lane.rank());
    require(in == (transport.rank() ^ 1), "a message along the lane");
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Messages, testing::Values(WorldKind::simulated, WorldKind::threads),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace chorus::test
