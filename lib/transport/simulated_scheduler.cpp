// SPDX-License-Identifier: Apache-2.0
#include "transport/simulated_scheduler.hpp"

#include "transport/shared_group.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <utility>

namespace chorus {

class SimulatedWorld::Scheduler::RankTransport final : public Transport {
 public:
  RankTransport(Scheduler& scheduler, int rank, int size) : Transport(rank, size), scheduler_(scheduler) {}

  Exchange start(const Envelope& envelope) override { return {*this, envelope, scheduler_.start(rank(), envelope)}; }
  bool test(Exchange& exchange) override { return scheduler_.test(rank(), exchange); }
  void cancel(Exchange& exchange) noexcept override { scheduler_.cancel(rank(), exchange); }

 private:
  Scheduler& scheduler_;
};

SimulatedWorld::Scheduler::Scheduler(const Options& options)
    : options_(options),
      place_(ProcessMemory::number_nodes(options.nodes, options.ranks)),
      memory_(place_, options.slot_bytes, options.bindings),
      random_(options.seed),
      nodes_(static_cast<std::size_t>(std::ranges::max(place_)) + 1),
      ranks_(place_.size()) {
  for (int me = 0; me < options.ranks; ++me) {
    node_of(me).ranks.push_back(me);
    Rank& rank = this->rank(me);
    if (const auto slow = options.slow.find(me); slow != options.slow.end()) rank.slowness = slow->second;
    if (const auto lost = options.lost.find(me); lost != options.lost.end()) rank.lost_at = lost->second;
    rank.transport = std::make_unique<RankTransport>(*this, me, options.ranks);
    std::unique_ptr<SharedGroup> group;
    if (options.slot_bytes > 0) {
      group = std::make_unique<SharedGroup>(memory_.members(me), waiter_, [this, me] { published(me); });
    }
    rank.transport->compose(place_, std::move(group), nullptr);
  }
}

VirtualTime SimulatedWorld::Scheduler::drawn(VirtualTime least, double factor) {
  const double fraction = static_cast<double>(random_() >> 11U) * 0x1p-53;
  const double stretched = static_cast<double>(least.count()) * factor * (1 + options_.jitter * fraction);
  return VirtualTime(static_cast<std::int64_t>(stretched));
}

void SimulatedWorld::Scheduler::schedule(Event event) {
  event.order = random_();
  events_.push(event);
}

Exchange::Tickets SimulatedWorld::Scheduler::start(int me, const Envelope& envelope) {
  Rank& rank = this->rank(me);
  Exchange::Tickets tickets;
  ++counts_of(me, {envelope.source, envelope.destination}).messages;
  rank.clock += drawn(options_.overhead, rank.slowness);
  if (envelope.source != no_rank) {
    Receipt& receipt = rank.open.receipt(envelope);
    tickets.receive = OpenExchanges::ticket(receipt);
    if (Message* const message = rank.mailbox.post(receipt)) sent(*message);
  }
  if (envelope.destination != no_rank) {
    Message& message = rank.open.message(me, envelope);
    send(me, message);
    if (!message.buffered) tickets.send = OpenExchanges::ticket(message);
  }
  return tickets;
}

void SimulatedWorld::Scheduler::send(int me, Message& message) {
  Rank& rank = this->rank(me);
  counts_of(me, {message.destination}).bytes += message.data.size();
  message.buffered = random_() % 2 == 0;
  if (message.buffered) {
    message.copy.assign(message.data.begin(), message.data.end());
    message.data = message.copy;
  }
  const Link& link = &node_of(me) == &node_of(message.destination) ? options_.same_node : options_.other_node;
  const double transfer = static_cast<double>(message.data.size()) * 1e6 / link.megabytes_per_second;
  const auto stream =
      static_cast<std::uint64_t>(message.destination) << 8U | static_cast<std::uint64_t>(message.channel);
  VirtualTime& last = rank.last_arrivals[stream];
  last = std::max(last + VirtualTime(1),
                  rank.clock + drawn(link.latency) + VirtualTime(static_cast<std::int64_t>(transfer)));
  schedule({.time = last, .kind = Event::Kind::deliver, .message = &message});
}

void SimulatedWorld::Scheduler::sent(Message& message) {
  if (message.buffered) {
    rank(message.source).open.give_back(message);
  } else {
    wake(message.source);
  }
}

void SimulatedWorld::Scheduler::cancel(int me, Exchange& exchange) {
  const Exchange::Tickets tickets = std::exchange(exchange.tickets, {});
  OpenExchanges& open = rank(me).open;
  if (Message* const message = OpenExchanges::message_of(tickets)) {
    const bool arrived = message->received || rank(message->destination).mailbox.withdraw(*message);
    if (arrived) open.give_back(*message);
    message->withdrawn = !arrived;
  }
  if (Receipt* const receipt = OpenExchanges::receipt_of(tickets)) {
    rank(me).mailbox.withdraw(*receipt);
    open.give_back(*receipt);
  }
}

void SimulatedWorld::Scheduler::published(int me) {
  Node& node = node_of(me);
  if (node.ranks.size() == 1 || std::exchange(node.wake_scheduled, true)) return;
  schedule({.time = rank(me).clock + drawn(options_.same_node.latency),
            .kind = Event::Kind::wake_node,
            .index = place_[static_cast<std::size_t>(me)]});
}

void SimulatedWorld::Scheduler::wake(int rank) {
  Rank& sleeper = this->rank(rank);
  if (sleeper.operation->done() || std::exchange(sleeper.scheduled, true)) return;
  schedule({.time = std::max(now_, sleeper.clock) + drawn(options_.overhead, sleeper.slowness), .index = rank});
}

void SimulatedWorld::Scheduler::run_rank(Rank& rank) {
  rank.scheduled = false;
  if (is_lost(rank)) return;
  rank.clock = now_;
  while (!rank.operation->done() && rank.operation->step()) {
  }
}

void SimulatedWorld::Scheduler::deliver(Message& message) {
  Rank& sender = rank(message.source);
  Rank& receiver = rank(message.destination);
  const bool vanishes = is_lost(receiver) || (is_lost(sender) && !message.buffered);
  if (message.withdrawn || (vanishes && message.buffered)) return sender.open.give_back(message);
  if (vanishes || !receiver.mailbox.deliver(message)) return;
  wake(message.destination);
  sent(message);
}

void SimulatedWorld::Scheduler::happen(const Event& event) {
  now_ = event.time;
  switch (event.kind) {
    case Event::Kind::run_rank:
      return run_rank(rank(event.index));
    case Event::Kind::deliver:
      return deliver(*event.message);
    case Event::Kind::wake_node: {
      Node& node = nodes_[static_cast<std::size_t>(event.index)];
      node.wake_scheduled = false;
      for (const int rank : node.ranks) wake(rank);
    }
  }
}

void SimulatedWorld::Scheduler::NoWaiting::idle(Wait& /*wait*/, Bell* /*bell*/) {
  throw Error(ErrorCode::not_supported, "a simulated rank must not block: await instead");
}

}  // namespace chorus
