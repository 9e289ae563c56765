// SPDX-License-Identifier: Apache-2.0
// How communicators are made of one, and what else ranks tell one another outside collectives.

#include <chorus/communicator.hpp>

#include "base/listed_ranks.hpp"
#include "transport/communicator_state.hpp"
#include "transport/gathering.hpp"
#include "transport/shared_group.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace detail {
namespace {

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

/// Ranks on other nodes may have called another function. `calls` are those of all.
void check_agreement(const std::vector<Call>& calls, const Call& mine, PurposeText purpose) {
  if (std::ranges::all_of(calls, [&](const Call& call) { return call == mine; })) return;
  std::map<int, std::optional<Call>> by_rank;
  for (const Call& call : calls) by_rank[static_cast<int>(by_rank.size())] = call;
  throw Error(ErrorCode::mismatch, fmt::format("the ranks disagree about this call; all must make the same call:{}\n ",
                                               mismatch_report(by_rank, nullptr, purpose)));
}

}  // namespace

std::shared_ptr<CommunicatorState> CommunicatorState::split(const Call& asked, const Place& place) {
  Call call = asked;
  call.purpose = purpose_.number;
  const Entrance::Visit visiting = visit(call);
  check_whole(call);
  std::shared_ptr<CommunicatorState> made;
  try {
    prepare({});
    drive(split_into(made, call, place));
  } catch (...) {
    fail(call);
  }
  return made;
}

Task<> CommunicatorState::split_into(std::shared_ptr<CommunicatorState>& made, Call call, Place place) {
  const Wish own{.takes_part = place.color ? 1 : 0, .color = place.color.value_or(0), .key = place.key};
  std::vector<Wish> wishes(static_cast<std::size_t>(size()));
  co_await gather_into(std::as_writable_bytes(std::span(wishes)), call, bytes_of(own));
  if (!place.color) co_return co_await split_devices(nullptr, std::nullopt, 0);
  const std::vector<int> ranks = members_with(wishes, static_cast<std::size_t>(rank()));
  Subset members(*transport_, ranks, Channel::splitting);
  made = co_await peers_->make(members, ranks);
  made->settings_ = settings_;
  made->agreed_ = true;
  co_await split_devices(made.get(), ranks.front(), members.rank());
}

std::vector<std::byte> CommunicatorState::gather(const Call& asked, ConstBytes own) {
  Call call = asked;
  call.purpose = purpose_.number;
  const Entrance::Visit visiting = visit(call);
  check_whole(call);
  std::vector<std::byte> all(own.size() * static_cast<std::size_t>(size()));
  try {
    prepare({});
    drive(gather_into(all, call, own));
  } catch (...) {
    fail(call);
  }
  return all;
}

Task<> CommunicatorState::gather_into(Bytes all, Call call, ConstBytes own) {
  if (!ready()) co_await set_up(call);
  begin_call();
  co_await meet_in_memory(*transport_, call);
  const auto ranks = static_cast<std::size_t>(size());
  const std::size_t record = sizeof(Call) + own.size();
  std::vector<std::byte> table(ranks * record);
  std::byte* const mine = table.data() + static_cast<std::size_t>(rank()) * record;
  std::memcpy(mine, &call, sizeof(Call));
  std::memcpy(mine + sizeof(Call), own.data(), own.size());
  co_await gather_records(*transport_, table);
  std::vector<Call> calls(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::byte* const theirs = table.data() + rank * record;
    std::memcpy(&calls[rank], theirs, sizeof(Call));
    std::memcpy(all.data() + rank * own.size(), theirs + sizeof(Call), own.size());
  }
  check_agreement(calls, call, purpose_text_);
}

Task<> CommunicatorState::find_native() { transport_->set_native(co_await peers_->find_native(*transport_)); }

CommunicatorState::OnNode CommunicatorState::on_node(const Call& call) {
  const Entrance::Visit visiting = visit(call);
  check_whole(call);
  try {
    prepare({});
    if (!ready()) drive(set_up(call));
  } catch (...) {
    fail(call);
  }
  const std::vector<int>& nodes = transport_->nodes();
  const bool memory = transport_->shared() != nullptr;
  if (nodes.empty()) return {.node = 0, .first = rank() == 0, .memory = memory};
  const int mine = nodes[static_cast<std::size_t>(rank())];
  return {.node = mine, .first = std::ranges::find(nodes, mine) - nodes.begin() == rank(), .memory = memory};
}

}  // namespace detail

namespace {

using detail::CommunicatorState;

std::optional<Communicator> made(std::shared_ptr<CommunicatorState> state) {
  if (!state) return std::nullopt;
  return Communicator(std::move(state));
}

Call choosing(std::span<const int> ranks) {
  return {.collective = choosing_subset, .root = static_cast<int>(ranks.size()), .count = number_of_list(ranks)};
}

}  // namespace

std::optional<Communicator> Communicator::split(std::optional<int> color, int key) const {
  if (color.value_or(0) < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("split on {}: argument color is {}; give 0 or more, or std::nullopt where this rank is to "
                            "be in no part, as MPI_UNDEFINED says to MPI",
                            state_->who(), *color));
  }
  return made(state_->split({.collective = splitting}, {color, key}));
}

Communicator Communicator::dup() const { return *made(state_->split({.collective = duplicating}, {0, rank()})); }

std::optional<Communicator> Communicator::subset(std::span<const int> ranks) const {
  for (const int listed : ranks) {
    const bool known = listed >= 0 && listed < size();
    if (known && std::ranges::count(ranks, listed) == 1) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("subset on rank {}: argument ranks has {}{}; list each of the ranks 0 to {} once at most",
                            rank(), listed, known ? " more than once" : "", size() - 1));
  }
  const auto here = std::ranges::find(ranks, rank());
  const std::optional<int> color = here == ranks.end() ? std::nullopt : std::optional(0);
  return made(state_->split(choosing(ranks), {color, static_cast<int>(here - ranks.begin())}));
}

Communicator Communicator::node() const {
  const Call call{.collective = joining_node};
  return *made(state_->split(call, {.color = state_->on_node(call).node}));
}

bool Communicator::shares_memory() const { return state_->on_node({.collective = asking_for_memory}).memory; }

std::optional<Communicator> Communicator::leaders() const {
  const Call call{.collective = joining_leaders};
  return made(state_->split(call, {.color = state_->on_node(call).first ? std::optional(0) : std::nullopt}));
}

}  // namespace chorus
