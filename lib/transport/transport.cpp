// SPDX-License-Identifier: Apache-2.0
#include "transport/transport.hpp"

#include "device/find_devices.hpp"
#include "transport/shared_group.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <iterator>
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
      fmt::format("a message from rank {} has {} bytes where {} were expected; the ranks disagree about the counts of "
                  "these two, or about the call, and then CHORUS_CHECK=collective says in what",
                  source, found, expected));
}

Transport::Transport(int rank, int size) noexcept : rank_(rank), size_(size) {}

Transport::~Transport() {
  if (under_way_) buffers_.keep();
}

Transport* Transport::node() const noexcept { return node_.get(); }
Transport* Transport::lane() const noexcept { return lane_.get(); }
Transport* Transport::leaders() const noexcept { return node_ && node_->rank() == 0 ? lane_.get() : nullptr; }

Accelerator* Transport::accelerator() const noexcept { return devices_ ? devices_->accelerator.get() : nullptr; }
DeviceNative* Transport::device_native() const noexcept { return devices_ ? devices_->native.get() : nullptr; }
const Error* Transport::no_device_native() const noexcept {
  return devices_ && devices_->no_native ? &*devices_->no_native : nullptr;
}
PeerWindows* Transport::windows() const noexcept { return devices_ ? devices_->windows.get() : nullptr; }
DevicePace Transport::device_pace() const noexcept { return devices_ ? devices_->pace : DevicePace(); }

void Transport::set_devices(Devices devices) noexcept { devices_ = std::make_unique<Devices>(std::move(devices)); }

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
  std::ranges::copy_if(ranks_by_node_, std::back_inserter(neighbours), [this](int rank) {
    return nodes_[static_cast<std::size_t>(rank)] == nodes_[static_cast<std::size_t>(rank_)];
  });
  node_ = std::make_unique<Subset>(*this, std::move(neighbours), Channel::inside_nodes);
  node_->shared_ = node_memory_.get();
  if (node_->rank() >= std::ranges::min(node_sizes_)) return;
  std::vector<int> lane;
  auto place = ranks_by_node_.begin() + node_->rank();
  for (const int ranks : node_sizes_) {
    lane.push_back(*place);
    if (lane.size() < node_sizes_.size()) place += ranks;
  }
  lane_ = std::make_unique<Subset>(*this, std::move(lane), Channel::lanes);
}

Subset::Subset(Transport& parent, std::vector<int> members, int channel)
    : Transport(static_cast<int>(std::ranges::find(members, parent.rank()) - members.begin()),
                static_cast<int>(members.size())),
      parent_(parent),
      members_(std::move(members)),
      channel_(channel) {}

Subset::~Subset() {
  if (parent_.is_under_way()) leave_under_way();
}

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
