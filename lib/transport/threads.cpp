// SPDX-License-Identifier: Apache-2.0
#include "transport/threads.hpp"

#include "topology/topology.hpp"
#include "transport/communicator_state.hpp"
#include "transport/gathering.hpp"
#include "transport/mailbox.hpp"
#include "transport/pace.hpp"
#include "transport/process_memory.hpp"
#include "transport/shared_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace chorus {

struct ThreadWorld::State {
  explicit State(const Options& options)
      : nodes(ProcessMemory::number_nodes(options.nodes, options.ranks)),
        slot_bytes(options.slot_bytes),
        pretended(!options.bindings.empty()),
        settings(options.settings),
        memory(nodes, slot_bytes, options.bindings),
        boxes(nodes.size()),
        deaths(nodes.size()) {}

  struct Box {
    std::mutex mutex;
    Mailbox mailbox;
  };

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(nodes.size()); }
  [[nodiscard]] Box& box(int rank) { return boxes[static_cast<std::size_t>(rank)]; }
  /// `bindings`: those of the ranks of the node of `rank`, for a world that does not pretend; empty: not known.
  [[nodiscard]] std::unique_ptr<SharedGroup> shared_group(int rank, Waiter& waiter,
                                                          std::span<const Binding> bindings = {}) const {
    if (slot_bytes == 0) return nullptr;
    SharedGroup::Members members = memory.members(rank);
    if (!settings.domains.empty()) {
      members.shape = NodeShape::pretended(settings.domains, static_cast<int>(members.regions.size()));
    } else if (!pretended) {
      members.shape = NodeShape::of(bindings);
    }
    members.direct = settings.single_copy;
    return std::make_unique<SharedGroup>(std::move(members), waiter);
  }

  std::vector<int> nodes;
  std::size_t slot_bytes;
  bool pretended;  // where its ranks are bound
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

/// What the thread of a rank tells the others when their communicator is set up.
struct ThreadRecord {
  Binding binding;
  KnownPaces paces;  ///< as it remembers them
};

class ThreadPeers final : public detail::Peers {
 public:
  ThreadPeers(std::shared_ptr<ThreadWorld::State> world, int rank) : world_(std::move(world)), rank_(rank) {}

  [[nodiscard]] Settings own_settings() const override { return world_->settings; }

  Task<Settings> agree_on_settings(Transport& /*transport*/) override { co_return world_->settings; }

  Task<Shared> set_up(Transport& transport, Waiter& waiter, const Settings& /*settings*/) override {
    std::vector<ThreadRecord> records(static_cast<std::size_t>(transport.size()));
    records[static_cast<std::size_t>(rank_)] = {current_binding(this_machine()), remembered_paces()};
    const Bytes table = std::as_writable_bytes(std::span(records));
    co_await gather_records(transport, table);
    const int cores = cores_available(bindings_of(records));
    waiter.set_policy(WaitPolicy::of(transport.size(), cores));
    Shared shared;
    shared.crowded = waiter.policy().oversubscribed();
    shared.nodes = world_->nodes;
    shared.memory = world_->shared_group(rank_, waiter, bindings_of(records, shared.nodes));
    shared.pace = co_await agree_on_pace(transport, shared.memory.get(), shared.crowded, paces_of(records));
    shared.pace.ranks_of_core = std::max(1.0F, static_cast<float>(transport.size()) / static_cast<float>(cores));
    shared.notes = {
        fmt::format("the {} ranks are threads of one process, which may use {} cores", transport.size(), cores)};
    if (shared.crowded) shared.notes.emplace_back("more ranks than cores: waiting ranks yield at once");
    co_return shared;
  }

  Task<std::shared_ptr<detail::CommunicatorState>> make(Transport& /*members*/,
                                                        const std::vector<int>& /*ranks*/) override {
    throw detail::Refusal(
        ErrorCode::not_supported,
        "a communicator of threads cannot be divided or copied; make another by thread_communicators");
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
  [[nodiscard]] static std::vector<Binding> bindings_of(const std::vector<ThreadRecord>& records) {
    std::vector<Binding> bindings;
    for (const ThreadRecord& record : records) bindings.push_back(record.binding);
    return bindings;
  }
  /// Those of the ranks on this rank's node.
  [[nodiscard]] std::vector<Binding> bindings_of(const std::vector<ThreadRecord>& records,
                                                 const std::vector<int>& nodes) const {
    std::vector<Binding> bindings;
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
      if (nodes[rank] == nodes[static_cast<std::size_t>(rank_)]) bindings.push_back(records[rank].binding);
    }
    return bindings;
  }

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

Communicator ThreadWorld::communicator(int rank, const std::shared_ptr<Engine>& engine) const {
  return Communicator(std::make_shared<detail::CommunicatorState>(std::make_unique<ThreadTransport>(state_, rank),
                                                                  std::make_unique<ThreadPeers>(state_, rank), engine));
}

void ThreadWorld::lose(int rank, const std::string& how) {
  const std::scoped_lock lock(state_->mutex);
  state_->deaths[static_cast<std::size_t>(rank)] = how;
}

}  // namespace chorus
