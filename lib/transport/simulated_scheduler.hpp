// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/mailbox.hpp"
#include "transport/process_memory.hpp"
#include "transport/simulated.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <queue>
#include <random>
#include <tuple>
#include <unordered_map>

namespace chorus {

/// The ranks of a simulated world, and what is to happen to them, in the order of the virtual clock.
class SimulatedWorld::Scheduler {
 public:
  explicit Scheduler(const Options& options);

  [[nodiscard]] Transport& transport(int rank) noexcept { return *this->rank(rank).transport; }
  Report run(const Body& body);

  [[nodiscard]] Exchange::Tickets start(int me, const Envelope& envelope);
  [[nodiscard]] bool test(int me, Exchange& exchange) { return rank(me).open.test(exchange.tickets); }
  void cancel(int me, Exchange& exchange);

 private:
  class RankTransport;
  /// Something that happens at a virtual time.
  struct Event {
    enum class Kind : std::uint8_t { run_rank, deliver, wake_node };
    VirtualTime time{};
    std::uint64_t order = 0;  // drawn: simultaneous events happen in any order
    Kind kind = Kind::run_rank;
    int index = 0;               // of the rank or node
    Message* message = nullptr;  // to deliver

    friend bool operator>(const Event& left, const Event& right) noexcept {
      return std::tie(left.time, left.order) > std::tie(right.time, right.order);
    }
  };
  /// One thread stands for all ranks, so none may block.
  class NoWaiting final : public Waiter {
   public:
    NoWaiting() : Waiter({.spins = 0, .yields = 0}) {}
    void idle(Wait& wait, Bell* bell) override;
  };
  struct Rank {
    std::unique_ptr<Transport> transport;
    OpenExchanges open;
    Mailbox mailbox;
    std::unordered_map<std::uint64_t, VirtualTime> last_arrivals;  // of messages from here, by destination and channel
    std::optional<Operation> operation;
    Counts counts;
    Counts inside;
    VirtualTime clock{};  // busy until then
    VirtualTime lost_at = VirtualTime::max();
    double slowness = 1;
    bool scheduled = false;
  };
  struct Node {
    std::vector<int> ranks;
    bool wake_scheduled = false;
  };

  [[nodiscard]] Rank& rank(int rank) noexcept { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Node& node_of(int rank) noexcept {
    return nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(rank)])];
  }
  /// Of what `me` exchanges with `peers`: inside its node, or, where one of them is on another or all are on one node,
  /// else.
  [[nodiscard]] Counts& counts_of(int me, std::initializer_list<int> peers) noexcept {
    const bool crosses =
        std::ranges::any_of(peers, [&](int peer) { return peer != no_rank && &node_of(me) != &node_of(peer); });
    return crosses || nodes_.size() == 1 ? rank(me).counts : rank(me).inside;
  }
  [[nodiscard]] bool is_lost(const Rank& rank) const noexcept { return now_ >= rank.lost_at; }
  [[nodiscard]] VirtualTime drawn(VirtualTime least, double factor = 1);

  void send(int me, Message& message);
  void sent(Message& message);
  void published(int me);
  void wake(int rank);
  void schedule(Event event);
  void happen(const Event& event);
  void run_rank(Rank& rank);
  void deliver(Message& message);

  void collect(Report& report);

  Options options_;
  std::vector<int> place_;  // the node of each rank
  ProcessMemory memory_;
  NoWaiting waiter_;
  std::mt19937_64 random_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  VirtualTime now_{};
  std::vector<Node> nodes_;
  std::deque<Rank> ranks_;
};

}  // namespace chorus
