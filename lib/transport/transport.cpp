// SPDX-License-Identifier: Apache-2.0
#include "transport/transport.hpp"

#include "transport/shared_group.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <numeric>

namespace chorus {

bool Exchange::ready() { return transport_.test(*this); }

void Exchange::abandon() noexcept { transport_.cancel(*this); }

std::string Exchange::what() const {
  const bool sends = envelope_.destination != no_rank;
  const bool receives = envelope_.source != no_rank;
  std::string text;
  if (sends) text = fmt::format("sending {} bytes to rank {}", envelope_.outgoing.size(), envelope_.destination);
  if (sends && receives) text += " and ";
  if (receives) text += fmt::format("receiving {} bytes from rank {}", envelope_.incoming.size(), envelope_.source);
  return text;
}

void report_length(int source, const std::string& found, std::size_t expected) {
  throw Error(
      ErrorCode::mismatch,
      fmt::format("a message from rank {} has {} bytes where {} were expected; the ranks disagree about the call",
                  source, found, expected));
}

Transport::Transport(int rank, int size) noexcept : rank_(rank), size_(size) {}

Transport::~Transport() = default;

Transport* Transport::node() const noexcept { return node_.get(); }
Transport* Transport::leaders() const noexcept { return leaders_.get(); }

void Transport::compose(std::vector<int> nodes, std::unique_ptr<SharedGroup> shared, Native* native) {
  native_ = native;
  node_memory_ = std::move(shared);
  const int count = nodes.empty() ? 1 : *std::ranges::max_element(nodes) + 1;
  if (count == 1) {
    shared_ = node_memory_.get();
    return;
  }
  nodes_ = std::move(nodes);
  node_sizes_.resize(static_cast<std::size_t>(count));
  for (const int node : nodes_) ++node_sizes_[static_cast<std::size_t>(node)];
  ranks_by_node_.resize(nodes_.size());
  std::iota(ranks_by_node_.begin(), ranks_by_node_.end(), 0);
  std::ranges::stable_sort(ranks_by_node_, {}, [this](int rank) { return nodes_[static_cast<std::size_t>(rank)]; });
  if (count == size_) return;
  std::vector<int> neighbours;
  std::vector<int> first_ranks;
  auto first = ranks_by_node_.begin();
  for (int node = 0; node < count; ++node) {
    const auto end = first + node_sizes_[static_cast<std::size_t>(node)];
    first_ranks.push_back(*first);
    if (node == nodes_[static_cast<std::size_t>(rank_)]) neighbours.assign(first, end);
    first = end;
  }
  if (neighbours.front() == rank_) leaders_ = std::make_unique<Subset>(*this, std::move(first_ranks), 2);
  node_ = std::make_unique<Subset>(*this, std::move(neighbours), 1);
  node_->shared_ = node_memory_.get();
}

Subset::Subset(Transport& parent, std::vector<int> members, int channel)
    : Transport(static_cast<int>(std::ranges::find(members, parent.rank()) - members.begin()),
                static_cast<int>(members.size())),
      parent_(parent),
      members_(std::move(members)),
      channel_(channel) {}

Exchange Subset::start(const Envelope& envelope) {
  Envelope translated = envelope;
  if (envelope.destination != no_rank) {
    translated.destination = members_[static_cast<std::size_t>(envelope.destination)];
  }
  if (envelope.source != no_rank) translated.source = members_[static_cast<std::size_t>(envelope.source)];
  translated.channel = channel_;
  return parent_.start(translated);
}

}  // namespace chorus
