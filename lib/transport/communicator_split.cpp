// SPDX-License-Identifier: Apache-2.0
// How communicators are made of one.

#include <chorus/communicator.hpp>

#include "transport/communicator_state.hpp"
#include "transport/gathering.hpp"
#include "transport/shared_group.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace chorus {
namespace detail {
namespace {

constexpr int splitting_channel = 3;  // those before are the hierarchy's

/// What a rank tells the others.
struct Wish {
  int takes_part = 0;
  int color = 0;
  int key = 0;
};

/// The ranks with the color of rank `me`, in the order of their keys.
std::vector<int> members_with(const std::vector<Wish>& wishes, std::size_t me) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < wishes.size(); ++rank) {
    if (wishes[rank].takes_part != 0 && wishes[rank].color == wishes[me].color) ranks.push_back(static_cast<int>(rank));
  }
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return wishes[static_cast<std::size_t>(rank)].key; });
  return ranks;
}

}  // namespace

std::shared_ptr<CommunicatorState> CommunicatorState::split(const Place& place) {
  const Call call{.collective = splitting};
  const Entrance::Visit visiting = visit(call);
  check_whole(call);
  std::shared_ptr<CommunicatorState> made;
  try {
    prepare({});
    drive(split_into(made, place));
  } catch (...) {
    fail(call);
  }
  return made;
}

Task<> CommunicatorState::split_into(std::shared_ptr<CommunicatorState>& made, Place place) {
  if (!ready_) co_await set_up();
  if (SharedGroup* memory = transport_->node_memory()) {  // finds ranks that call something else
    memory->begin({.collective = splitting});
    const Round round = co_await memory->open(line_slots);
    memory->arrive(round);
    co_await memory->arrivals(round);
  }
  const auto me = static_cast<std::size_t>(rank());
  std::vector<Wish> wishes(static_cast<std::size_t>(size()));
  wishes[me] = {.takes_part = place.color ? 1 : 0, .color = place.color.value_or(0), .key = place.key};
  const Bytes table = std::as_writable_bytes(std::span(wishes));
  co_await gather_records(*transport_, table);
  if (!place.color) co_return;
  const std::vector<int> ranks = members_with(wishes, me);
  Subset members(*transport_, ranks, splitting_channel);
  made = co_await peers_->make(members, ranks);
}

CommunicatorState::OnNode CommunicatorState::on_node() {
  const Call call{.collective = splitting};
  const Entrance::Visit visiting = visit(call);
  check_whole(call);
  try {
    prepare({});
    if (!ready_) drive(set_up());
  } catch (...) {
    fail(call);
  }
  const std::vector<int>& nodes = transport_->nodes();
  if (nodes.empty()) return {.node = 0, .first = rank() == 0};
  const int mine = nodes[static_cast<std::size_t>(rank())];
  return {.node = mine, .first = std::ranges::find(nodes, mine) - nodes.begin() == rank()};
}

}  // namespace detail

std::optional<Communicator> Communicator::split(std::optional<int> color, int key) const {
  std::shared_ptr<detail::CommunicatorState> made = state_->split({color, key});
  if (!made) return std::nullopt;
  return Communicator(std::move(made));
}

Communicator Communicator::dup() const { return *split(0, rank()); }

std::optional<Communicator> Communicator::subset(std::span<const int> ranks) const {
  for (const int listed : ranks) {
    const bool known = listed >= 0 && listed < size();
    if (known && std::ranges::count(ranks, listed) == 1) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("subset on rank {}: argument ranks has {}{}; list each of the ranks 0 to {} once at most",
                            rank(), listed, known ? " more than once" : "", size() - 1));
  }
  const auto here = std::ranges::find(ranks, rank());
  if (here == ranks.end()) return split(std::nullopt);
  return split(0, static_cast<int>(here - ranks.begin()));
}

Communicator Communicator::node() const { return *split(state_->on_node().node); }

std::optional<Communicator> Communicator::leaders() const {
  return split(state_->on_node().first ? std::optional(0) : std::nullopt);
}

}  // namespace chorus
