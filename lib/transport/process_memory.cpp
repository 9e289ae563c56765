// SPDX-License-Identifier: Apache-2.0
#include "transport/process_memory.hpp"

#include "transport/segment.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace chorus {
namespace {

constexpr std::size_t page = Segment::page;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

ProcessMemory::ProcessMemory(std::vector<int> nodes, std::size_t slot_bytes, std::vector<Binding> bindings)
    : nodes_(std::move(nodes)),
      slot_bytes_(slot_bytes),
      bindings_(std::move(bindings)),
      region_bytes_(whole_pages(region_bytes(slot_bytes))),
      // calloc: zeroed, and pages that nobody uses cost nothing.
      memory_(static_cast<std::byte*>(std::calloc(nodes_.size() + 1, std::max(region_bytes_, page)))) {
  if (!bindings_.empty() && bindings_.size() != nodes_.size()) {
    throw Error(ErrorCode::invalid_argument, "bindings must name one binding for every rank");
  }
  if (!memory_) throw std::bad_alloc();
  first_region_ = memory_.get() + (page - reinterpret_cast<std::uintptr_t>(memory_.get()) % page) % page;
}

SharedGroup::Members ProcessMemory::members(int rank) const {
  const int node = nodes_[static_cast<std::size_t>(rank)];
  SharedGroup::Members members;
  members.slot_bytes = slot_bytes_;
  members.direct = true;
  std::vector<Binding> bindings;
  for (std::size_t peer = 0; peer < nodes_.size(); ++peer) {
    if (nodes_[peer] != node) continue;
    if (static_cast<int>(peer) == rank) members.rank = static_cast<int>(members.regions.size());
    members.regions.push_back(first_region_ + peer * region_bytes_);
    members.communicator_ranks.push_back(static_cast<int>(peer));
    if (!bindings_.empty()) bindings.push_back(bindings_[peer]);
  }
  members.shape = NodeShape::of(bindings);
  return members;
}

std::vector<int> ProcessMemory::number_nodes(const std::vector<int>& wanted, int ranks) {
  if (wanted.empty()) return std::vector<int>(static_cast<std::size_t>(ranks), 0);
  if (wanted.size() != static_cast<std::size_t>(ranks)) {
    throw Error(ErrorCode::invalid_argument, "nodes must name one node for every rank");
  }
  std::vector<int> seen;
  std::vector<int> nodes;
  for (const int node : wanted) {
    const auto found = std::ranges::find(seen, node);
    nodes.push_back(static_cast<int>(found - seen.begin()));
    if (found == seen.end()) seen.push_back(node);
  }
  return nodes;
}

}  // namespace chorus
