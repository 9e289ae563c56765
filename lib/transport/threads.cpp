// SPDX-License-Identifier: Apache-2.0
#include "transport/threads.hpp"

#include "transport/communicator_state.hpp"
#include "transport/mailbox.hpp"
#include "transport/process_memory.hpp"
#include "transport/shared_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace chorus {

struct ThreadWorld::State {
  explicit State(const Options& options)
      : nodes(ProcessMemory::number_nodes(options.nodes, options.ranks)),
        slot_bytes(options.slot_bytes),
        settings(options.settings),
        memory(nodes, slot_bytes),
        boxes(nodes.size()),
        deaths(nodes.size()) {}

  struct Box {
    std::mutex mutex;
    Mailbox mailbox;
  };

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(nodes.size()); }
  [[nodiscard]] Box& box(int rank) { return boxes[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::unique_ptr<SharedGroup> shared_group(int rank, Waiter& waiter) const {
    if (slot_bytes == 0) return nullptr;
    return std::make_unique<SharedGroup>(memory.members(rank), waiter);
  }

  std::vector<int> nodes;
  std::size_t slot_bytes;
  Settings settings;
  ProcessMemory memory;
  std::deque<Box> boxes;
  std::mutex mutex;                              // for what follows
  std::vector<std::string> deaths;               // how each rank has died; empty while it lives
  std::vector<detail::Peers::Failure> failures;  // in the order they were told
};

namespace {

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<ThreadWorld::State> world, int rank)
      : Transport(rank, world->ranks()), world_(std::move(world)) {}

  Exchange start(const Envelope& envelope) override {
    Exchange::Tickets tickets;
    if (envelope.source != no_rank) {
      Receipt& receipt = open_.receipt(envelope);
      tickets.receive = OpenExchanges::ticket(receipt);
      ThreadWorld::State::Box& mine = world_->box(rank());
      const std::scoped_lock lock(mine.mutex);
      mine.mailbox.post(receipt);
    }
    if (envelope.destination != no_rank) {
      Message& message = open_.message(rank(), envelope);
      tickets.send = OpenExchanges::ticket(message);
      ThreadWorld::State::Box& theirs = world_->box(envelope.destination);
      const std::scoped_lock lock(theirs.mutex);
      theirs.mailbox.deliver(message);
    }
    return {*this, envelope, tickets};
  }

  bool test(Exchange& exchange) override { return open_.test(exchange.tickets); }

  void cancel(Exchange& exchange) noexcept override {
    const Exchange::Tickets tickets = std::exchange(exchange.tickets, {});
    if (Message* const message = OpenExchanges::message_of(tickets)) withdraw(*message, message->destination);
    if (Receipt* const receipt = OpenExchanges::receipt_of(tickets)) withdraw(*receipt, rank());
  }

 private:
  template <class Entry>
  void withdraw(Entry& entry, int owner) {
    ThreadWorld::State::Box& box = world_->box(owner);
    const std::scoped_lock lock(box.mutex);
    box.mailbox.withdraw(entry);
    open_.give_back(entry);
  }

  std::shared_ptr<ThreadWorld::State> world_;
  OpenExchanges open_;
};

/// Nothing needs to be found out: the world knows all.
class ThreadPeers final : public detail::Peers {
 public:
  ThreadPeers(std::shared_ptr<ThreadWorld::State> world, int rank) : world_(std::move(world)), rank_(rank) {}

  [[nodiscard]] Settings own_settings() const override { return world_->settings; }

  Task<Shared> set_up(Transport& transport, Waiter& waiter) override {
    waiter.set_policy(WaitPolicy::of(transport.size(), static_cast<int>(std::thread::hardware_concurrency())));
    Shared shared;
    shared.nodes = world_->nodes;
    shared.memory = world_->shared_group(rank_, waiter);
    shared.settings = world_->settings;
    shared.notes = {fmt::format("the {} ranks are threads of one process", transport.size())};
    co_return shared;
  }

  Task<std::shared_ptr<detail::CommunicatorState>> make(Transport& /*members*/,
                                                        const std::vector<int>& /*ranks*/) override {
    throw Error(ErrorCode::not_supported, "communicators of threads cannot be split");
  }

  std::string death_of(int rank) override {
    const std::scoped_lock lock(world_->mutex);
    return world_->deaths[static_cast<std::size_t>(rank)];
  }

  [[nodiscard]] std::string describe(int rank) const override { return fmt::format("thread {} of this process", rank); }

  void tell(const Failure& failure) noexcept override {
    const std::scoped_lock lock(world_->mutex);
    world_->failures.push_back(failure);
  }

  [[nodiscard]] std::optional<Failure> told() override {
    const std::scoped_lock lock(world_->mutex);
    const auto found = std::ranges::find_if(world_->failures, [&](const Failure& told) { return told.rank != rank_; });
    if (found == world_->failures.end()) return std::nullopt;
    return *found;
  }

 private:
  std::shared_ptr<ThreadWorld::State> world_;
  int rank_;
};

}  // namespace

ThreadWorld::ThreadWorld(const Options& options) : state_(std::make_shared<State>(options)) {}

int ThreadWorld::ranks() const noexcept { return state_->ranks(); }

std::unique_ptr<Transport> ThreadWorld::transport(int rank, Waiter& waiter) const {
  auto transport = std::make_unique<ThreadTransport>(state_, rank);
  transport->compose(state_->nodes, state_->shared_group(rank, waiter), nullptr);
  return transport;
}

Communicator ThreadWorld::communicator(int rank, std::shared_ptr<Engine> engine) const {
  return Communicator(std::make_shared<detail::CommunicatorState>(
      std::make_unique<ThreadTransport>(state_, rank), std::make_unique<ThreadPeers>(state_, rank), std::move(engine)));
}

void ThreadWorld::lose(int rank, const std::string& how) {
  const std::scoped_lock lock(state_->mutex);
  state_->deaths[static_cast<std::size_t>(rank)] = how;
}

}  // namespace chorus
